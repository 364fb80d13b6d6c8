import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

@Suite struct TutorialTests {
  /// The lessons that come with these texts, by their numbers.
  private func lessons(_ keys: Tutorial.Keys = .vim, _ texts: String...) -> [Int] {
    var tutorial = Tutorial(keys)
    return texts.compactMap { text in
      let next = tutorial.next(in: text)
      return next.flatMap { _ in tutorial.count }
    }
  }

  @Test func eachLessonWaitsForTheOneBefore() {
    #expect(lessons(.vim, "", "My name:\nmore", "My name:   ", "My name: Ana") == [1, 2])
    let named = "My name: Ana\n"
    #expect(lessons(.vim, "", named, named + "made of chese", named + "made of cheese") == [1, 2, 3])
    let mended = named + "made of cheese\nWord:"
    // The word has to come and to go.
    #expect(lessons(.vim, "", named, mended, mended, mended + " oops", mended, mended + "\n[ ]") == [1, 2, 3, 4])
    #expect(
      lessons(.vim, "", named, mended, mended + " oops", mended, mended + "[x]", mended + "[x] [ X]") == [
        1, 2, 3, 4, 5,
      ])
    #expect(
      lessons(.vim, "", named, mended, mended + " a", mended, mended + "[x]", mended + "[x][X]") == [1, 2, 3, 4, 5, 6])
  }

  @Test func commandsHaveTheirNamesInThisEditor() {
    for (keys, name, undo) in [(Tutorial.Keys.vim, ":NotesShare", " u."), (.emacs, "M-x notes-share", " C-_.")] {
      var tutorial = Tutorial(keys)
      var all = ""
      for text in ["", "My name: a", "made of cheese", "Word: a", "", "[x]", "[x][x]"] {
        all += tutorial.next(in: "My name: a\nmade of cheese\n" + text) ?? ""
      }
      #expect(all.contains(name) && all.contains(undo), "\(all)")
      #expect(tutorial.isOver)
      #expect(all.split(separator: "\n").allSatisfy { $0.count <= 79 })
    }
  }
}

/// The robot of the tutorial and a person, in one note.
@AutomergeRepo @Suite struct TutorTests {
  @Test func theRobotTypesAndThePersonDoesToo() async throws {
    let service = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 31))))
    try await service.start()
    let place = try await service.request("notes/tutorial", [:])
    let (uri, id) = (
      try #require(place["uri"]?.stringValue), try #require(place["id"]?.stringValue.flatMap { DocumentId($0) })
    )
    let path = try #require(place["path"]?.stringValue)
    #expect(path == "/notes/Tutorial.md")
    service.open(uri, service.files[path].map { String(decoding: $0, as: UTF8.self) } ?? "")
    try await service.wait(for: "the first lesson") { service.text(of: id)?.hasSuffix("under your hands.\n") ?? false }
    // It is another person: with a caret, and with words that undo leaves alone.
    #expect(service.service.presenceTracker.people(in: id).map(\.name) == ["Robin"])
    let editor = EditorCopy(service, uri)
    try editor.change("My name:", to: "My name: Ana")
    try await service.wait(for: "the second lesson") { service.text(of: id)?.contains("made of chese.\n") ?? false }
    let undone = try await service.undo(uri, editor)
    #expect(undone == 1)
    try await service.wait(for: "the words") { service.text(of: id)?.contains("My name:\n") ?? false }
    #expect(service.text(of: id)?.contains("made of chese.\n") ?? false)
    let blame = try await service.request("notes/history", ["uri": .string(uri)])
    #expect(blame["changes"]?.arrayValue?.contains { $0["author"] == "Robin" } ?? false)
    // It goes when the note is closed.
    service.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await service.wait(for: "the end") { service.service.presenceTracker.people(in: id).isEmpty }
  }
}

/// The text that the editor shows: what it opened, with the edits that it was sent.
@AutomergeRepo
private final class EditorCopy {
  private let service: ServiceUnderTest
  private let uri: String
  private(set) var version = 1

  init(_ service: ServiceUnderTest, _ uri: String) { (self.service, self.uri) = (service, uri) }

  /// The last edit that was sent.
  var rev: Int {
    service.sent.filter { $0["method"] == "notes/edit" }.compactMap { $0["params"]?["rev"]?.intValue }.max() ?? 0
  }

  /// The person replaces the first occurrence of a text.
  func change(_ old: String, to new: String) throws {
    let binding = try #require(service.binding(uri))
    let text = String(decoding: DocumentText(binding.note).allUTF8, as: UTF8.self)
    version += 1
    let changed = text.replacing(old, with: new, maxReplacements: 1)
    service.send(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(uri), "version": JSONValue(version)],
        "contentChanges": [["text": .string(changed)]], "notes": ["rev": JSONValue(rev)],
      ])
  }
}

extension ServiceUnderTest {
  /// Takes back what the person did last; returns how many steps that were.
  fileprivate func undo(_ uri: String, _ editor: EditorCopy) async throws -> Int {
    let id = 77
    send(
      "notes/undo", ["uri": .string(uri), "version": JSONValue(editor.version), "rev": JSONValue(editor.rev)], id: id)
    try await wait(for: "the answer") { self.sent.contains { $0["id"]?.intValue == id } }
    return sent.first { $0["id"]?.intValue == id }?["result"]?["count"]?.intValue ?? 0
  }
}

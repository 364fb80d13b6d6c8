import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

struct TutorialTests {
  /// The numbers of the lessons that these texts lead to.
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
    // The person must type the word and undo it.
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
@AutomergeRepo struct TutorTests {
  @Test func theRobotTypesAndThePersonDoesToo() async throws {
    let (service, id, editor) = try await beginning(seed: 31)
    // The robot is another person: it has a caret, and undo leaves its words alone.
    #expect(service.service.presenceTracker.people(in: id).map(\.name) == ["Robin"])
    editor.change("My name:", to: "My name: Ana")
    try await service.wait(for: "the second lesson") { service.text(of: id)?.contains("made of chese.\n") ?? false }
    #expect(try await service.undo(editor) == 1)
    try await service.wait(for: "the words") { service.text(of: id)?.contains("My name:\n") ?? false }
    #expect(service.text(of: id)?.contains("made of chese.\n") ?? false)
    let blame = try await service.request("notes/history", ["uri": .string(editor.uri)])
    #expect(blame["changes"]?.arrayValue?.contains { $0["author"] == "Robin" } ?? false)
    // Its caret disappears when the note is closed, not only at its next heartbeat.
    let end = service.world.clock.now
    service.send("textDocument/didClose", ["textDocument": ["uri": .string(editor.uri)]])
    try await service.wait(for: "the end") { service.service.presenceTracker.people(in: id).isEmpty }
    #expect(service.world.clock.now - end < .seconds(1))
  }

  /// The robot waits for the undo, so it used to type while the undo was on its way to the editor, which then got the
  /// letter twice.
  @Test func whatTheRobotAnswersToAnUndoReachesTheEditorOnce() async throws {
    let (service, id, editor) = try await beginning(seed: 32)
    editor.change("My name:", to: "My name: Ana")
    try await service.wait(for: "the second lesson") { service.text(of: id)?.contains("made of chese.\n") ?? false }
    editor.change("chese", to: "cheese")
    try await service.wait(for: "the third lesson") { service.text(of: id)?.hasSuffix("scroll down.\n") ?? false }
    editor.change("Word:", to: "Word: tea")
    #expect(try await service.undo(editor) == 1)
    try await service.wait(for: "the fourth lesson") { service.text(of: id)?.hasSuffix("[ ]\n") ?? false }
    #expect(editor.text == service.text(of: id))
  }

  /// The robot has typed its first lesson into a note that this editor has open.
  private func beginning(seed: UInt64) async throws -> (ServiceUnderTest, DocumentId, EditorCopy) {
    let service = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: seed))))
    try await service.start()
    let place = try await service.request("notes/tutorial", [:])
    let id = try #require(place["id"]?.stringValue.flatMap { DocumentId($0) })
    let path = try #require(place["path"]?.stringValue)
    #expect(path == "/notes/Tutorial.md")
    let editor = EditorCopy(
      service, try #require(place["uri"]?.stringValue),
      service.files[path].map { String(decoding: $0, as: UTF8.self) } ?? "")
    try await service.wait(for: "the first lesson") { service.text(of: id)?.hasSuffix("your cursor.\n") ?? false }
    return (service, id, editor)
  }
}

/// The editor's text: the one it opened, with the edits that it has received.
@AutomergeRepo
private final class EditorCopy {
  private let service: ServiceUnderTest
  let uri: String
  private var buffer: PlainBuffer
  var version: Int { buffer.version }
  var text: String { String(decoding: buffer.text, as: UTF8.self) }

  /// Opens the file with its current text.
  init(_ service: ServiceUnderTest, _ uri: String, _ text: String) {
    (self.service, self.uri) = (service, uri)
    buffer = PlainBuffer(version: 1, text: Array(text.utf8))
    service.onMessage = { [weak self] message in self?.hear(message) }
    service.open(uri, text)
  }

  private func hear(_ message: JSONValue) {
    guard message["method"] == "notes/edit", let edits = message["params"]?["edits"]?.arrayValue else { return }
    func position(_ value: JSONValue?) -> NotesServer.Position {
      NotesServer.Position(line: value?["line"]?.intValue ?? 0, character: value?["character"]?.intValue ?? 0)
    }
    // All positions refer to the text before the edit.
    let changes = edits.reversed().map { edit -> ContentChange in
      let range = edit["range"]
      return .replace(
        PositionRange(start: position(range?["start"]), end: position(range?["end"])),
        Array((edit["newText"]?.stringValue ?? "").utf8))
    }
    buffer.apply(changes, version: version, in: .utf16)
  }

  /// The last edit that was sent.
  var rev: Int {
    service.sent.filter { $0["method"] == "notes/edit" }.compactMap { $0["params"]?["rev"]?.intValue }.max() ?? 0
  }

  /// The person replaces the first occurrence of a text.
  func change(_ old: String, to new: String) {
    buffer.version += 1
    buffer.text = Array(text.replacing(old, with: new, maxReplacements: 1).utf8)
    service.send(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(uri), "version": JSONValue(version)],
        "contentChanges": [["text": .string(text)]], "notes": ["rev": JSONValue(rev)],
      ])
  }
}

extension ServiceUnderTest {
  /// Undoes what the person did last; returns the number of steps.
  fileprivate func undo(_ editor: EditorCopy) async throws -> Int {
    let id = 77
    send(
      "notes/undo",
      ["uri": .string(editor.uri), "version": JSONValue(editor.version), "rev": JSONValue(editor.rev)], id: id)
    try await wait(for: "the answer") { self.sent.contains { $0["id"]?.intValue == id } }
    return sent.first { $0["id"]?.intValue == id }?["result"]?["count"]?.intValue ?? 0
  }
}

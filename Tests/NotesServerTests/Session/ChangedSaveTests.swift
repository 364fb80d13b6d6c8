import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A file that differs from what the client has just written: a formatter ran, the disk was full, the file has other line ends.
@AutomergeRepo struct ChangedSaveTests {
  private func didSave(_ note: WatchedNote) {
    note.service.send("textDocument/didSave", ["textDocument": ["uri": .string(note.uri)]])
  }

  @Test(arguments: [false, true]) func whatAFormatterMakesOfATypedLineStandsOnce(closes: Bool) async throws {
    let note = try await WatchedNote(seed: 81)
    try await note.open()
    note.service.change(note.uri, "tea\n* milk and  \n", version: 2)
    note.write("tea\n- milk and\n", isJust: true)
    didSave(note)
    if closes { note.close() }
    try await note.wait(for: "the formatted line") { note.text == "tea\n- milk and\n" }
    try await note.service.pass(.seconds(3))
    #expect(note.text == "tea\n- milk and\n")
    #expect(note.file == "tea\n- milk and\n")
  }

  /// The other program had read the file before the client wrote it.
  @Test func aLineThatAnotherProgramLosesAtASaveStays() async throws {
    let note = try await WatchedNote(seed: 82)
    try await note.open()
    note.service.change(note.uri, "tea\nmilk and honey\n", version: 2)
    note.write("tea\neggs\n")
    didSave(note)
    try await note.wait(for: "both") { note.lines == ["eggs", "milk and honey", "tea"] }
  }

  @Test(arguments: [false, true]) func aSaveThatBreaksOffDeletesNothing(saysSo: Bool) async throws {
    let note = try await WatchedNote(seed: 83)
    let old = (0..<40).map { "line \($0)\n" }.joined(), new = (0..<60).map { "pasted \($0)\n" }.joined()
    note.write(old)
    try await note.wait(for: "the lines") { note.text == old }
    try await note.open()
    note.service.change(note.uri, old + new, version: 2)
    note.write(String((old + new).dropLast(157)))
    if saysSo { didSave(note) }
    try await note.service.pass(.seconds(5))
    #expect(note.text == old + new)
    // The next one succeeds.
    note.service.change(note.uri, old + new + "end\n", version: 3)
    note.write(old + new + "end\n")
    didSave(note)
    try await note.service.pass(.seconds(5))
    #expect(note.text == old + new + "end\n")
  }

  @Test func aSaveThatBreaksOffWhileTheBufferIsClosedIsWrittenAgain() async throws {
    let note = try await WatchedNote(seed: 84)
    try await note.open()
    note.service.change(note.uri, "tea\nmilk and honey\nbread\n", version: 2)
    note.write("tea\nmilk and ho")
    note.close()
    try await note.wait(for: "the whole file") { note.file == "tea\nmilk and honey\nbread\n" }
    #expect(note.text == "tea\nmilk and honey\nbread\n")
  }

  /// The file is Windows's; `printf` and a pasted `^M` know nothing of that.
  @Test(arguments: ["tea\r\nmilk\r\nfour\n", "tea\r\nmi\rlk\r\n"])
  func oneOtherLineEndDoesNotMakeTheOthersText(changed: String) async throws {
    let note = try await WatchedNote(seed: 85)
    note.write("tea\r\nmilk\r\n")
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    note.service.open(note.uri, "tea\nmilk\n")
    try await note.wait(for: "the buffer") { note.service.binding(note.uri) != nil }
    try await note.service.pass(.seconds(1))
    note.write(changed)
    let wanted = changed.replacingOccurrences(of: "\r\n", with: "\n")
    try await note.wait(for: "the change") { note.text == wanted }
    note.close()
    note.write(changed + "five\r\n")
    try await note.wait(for: "one more line") { note.text == wanted + "five\n" }
    try note.receive("eggs")
    let whole = ("eggs\n" + wanted + "five\n").replacingOccurrences(of: "\n", with: "\r\n")
    try await note.wait(for: "the file") { note.file == whole }
  }

  /// Another person has typed a NUL, and removed it.
  @Test func aFileWithANULIsWrittenAgain() async throws {
    let note = try await WatchedNote(seed: 86)
    try note.receive("a\0b")
    try await note.wait(for: "the file") { note.file == "a\0b\ntea\n" }
    try note.handle.change {
      let content = try #require(NoteDocument($0)).content
      try $0.spliceText(obj: content, start: 1, delete: 1, value: "")
    }
    note.service.service.fileSync.plan(note.handle)
    try await note.wait(for: "the file without it") { note.file == "ab\ntea\n" }
  }

  /// The client asks before it writes, and the write fails.
  @Test func whatTheClientFoundInTheFileAndDidNotOverwriteStandsOnce() async throws {
    let note = try await WatchedNote(seed: 87)
    try await note.open()
    note.service.change(note.uri, "mine tea\n", version: 2)
    let found = "tea outside\n"
    note.service.files.write(note.path, found)
    note.service.send("notes/file", ["uri": .string(note.uri), "text": .string(found)])
    try await note.service.pass(.seconds(3))
    note.folders.changed(note.path)
    try await note.service.pass(.seconds(3))
    #expect(note.text == "mine tea outside\n")
  }

  @Test func aFileThatTwoRequestsAdoptAtOnceIsOneNote() async throws {
    let note = try await WatchedNote(seed: 88)
    let path = "/elsewhere/list.md"
    note.service.files.write(path, "one\ntwo\n")
    note.service.open("file://" + path, "one\ntwo\n")
    let session = note.service.session
    let answers = Answers()
    for method in ["notes/adopt", "notes/adopt"] {
      Task { @AutomergeRepo in
        let answer = try? await session.perform(method, ["uri": .string("file://" + path)])
        answers.ids.append(answer?["id"]?.stringValue)
      }
    }
    try await note.wait(for: "two answers") { answers.ids.count == 2 }
    #expect(Set(answers.ids.compactMap(\.self)).count == 1)
    #expect(note.service.service.notebook.keysByModification.count == 2, "the other note, and this one")
  }

  @AutomergeRepo private final class Answers {
    var ids: [String?] = []
  }
}

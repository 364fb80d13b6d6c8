import Foundation
import NotesHarness
import TestSupport
import Testing

/// Words that a service which hangs has not read when their buffer goes.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct UnsentWordsTests {
  private let words = "qbang two"
  private let told = "The service hangs; your words are in"
}

extension UnsentWordsTests {
  /// An editor with a note that has words its service does not read.
  private final class Hanging<Editor: VimLikeUnderTest> {
    let editor: Editor
    let service: KnownProcess

    var user: NotesUser { editor.session.user }
    var unsent: [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: user.home + "/unsent")) ?? []
      return names.filter { $0.hasSuffix(".json") }
    }

    init(typing words: String, seed: UInt64) throws {
      editor = try Editor(user: NotesUser("Ana"), seed: seed, maximumDelay: .zero)
      try editor.createNote("Tea")
      _ = try editor.waitUntilAttached()
      try editor.beginTypingAtEnd()
      try editor.session.terminal.type("one")
      try editor.waitForText("one")
      try editor.endTyping()
      try editor.execute("write")
      let (path, user) = (try #require(try editor.filePath()), editor.session.user)
      try editor.session.wait(for: "the saved file") { try String(contentsOfFile: path, encoding: .utf8) == "one\n" }
      let id = try editor.waitUntilAttached()
      try editor.session.wait(for: "the stored line") { try user.storedText(of: id) == "one\n" }
      service = KnownProcess(try #require(editor.session.records.last?.processId))
      service.send(SIGSTOP)
      try editor.beginTypingAtEnd()
      try editor.session.terminal.type(words)
      try editor.waitForText(words)
      try editor.endTyping()
    }

    deinit { service.send(SIGKILL) }

    func give(_ command: String) throws {
      try editor.session.terminal.type(command)
      try editor.session.terminal.press("Enter")
    }
  }

  @Test func vimTellsWhereTheWordsAreThatAHangingServiceHasNotReadWhenItEnds() throws { try leave(VimUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func neovimTellsWhereTheWordsAreThatAHangingServiceHasNotReadWhenItEnds() throws { try leave(NeovimUnderTest.self) }

  private func leave<Editor: VimLikeUnderTest>(_ kind: Editor.Type) throws {
    let first = try Hanging<Editor>(typing: words, seed: 95)
    let program = first.editor.session.terminal.programProcessId
    try first.give(":qa!")
    try first.editor.waitForScreen(told)
    try first.editor.session.wait(for: "the end of the editor") { !EditorSession.isRunning(program) }
    #expect(first.unsent.count == 1)
    let attributes = try FileManager.default.attributesOfItem(atPath: first.user.home + "/unsent/" + first.unsent[0])
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let folder = try FileManager.default.attributesOfItem(atPath: first.user.home + "/unsent")
    #expect(folder[.posixPermissions] as? Int == 0o700)
    first.service.send(SIGKILL)

    let next = try Editor(user: first.user, seed: 96, maximumDelay: .zero)
    try next.openNote("Tea")
    _ = try next.waitUntilAttached()
    try next.waitForScreen(":NotesRecovered has a copy of \"Tea\"")
    #expect(first.user.recoveredTexts.contains { $0.contains(words) })
    #expect(first.unsent == [])
    try next.quit()
    try next.session.waitForEnd()
  }

  @Test func vimKeepsTheWordsOfANoteThatItReadsAgain() throws { try drop(VimUnderTest.self, [":e!"]) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func neovimKeepsTheWordsOfANoteThatItReadsAgain() throws { try drop(NeovimUnderTest.self, [":e!"]) }

  @Test func vimKeepsTheWordsOfANoteWhoseWindowItCloses() throws {
    try drop(VimUnderTest.self, [":new", ":wincmd p", ":q!"])
  }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func neovimKeepsTheWordsOfANoteWhoseWindowItCloses() throws {
    try drop(NeovimUnderTest.self, [":new", ":wincmd p", ":q!"])
  }

  /// The service that the editor starts after the kill finds the words.
  private func drop<Editor: VimLikeUnderTest>(_ kind: Editor.Type, _ commands: [String]) throws {
    let first = try Hanging<Editor>(typing: words, seed: 97)
    for command in commands { try first.give(command) }
    try first.editor.waitForScreen(told)
    #expect(first.unsent.count == 1)
    first.service.send(SIGKILL)
    try first.editor.session.wait(for: "the next service") { first.editor.session.records.count == 2 }
    // A key shows that the last line was read.
    try first.editor.session.wait(for: "the news of the recovered words") {
      try first.editor.session.terminal.type("l")
      return try first.editor.session.terminal.screen().contains(":NotesRecovered has a copy of \"Tea\"")
    }
    #expect(first.user.recoveredTexts.contains { $0.contains(words) })
    try first.editor.session.wait(for: "no file") { first.unsent == [] }
    try first.editor.quit()
    try first.editor.session.waitForEnd()
  }

  @Test func aPrivateNoteInVimSaysThatAHangingServiceHasNotStoredIt() throws { try typeOn(VimUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func aPrivateNoteInNeovimSaysThatAHangingServiceHasNotStoredIt() throws { try typeOn(NeovimUnderTest.self) }

  private func typeOn<Editor: VimLikeUnderTest>(_ kind: Editor.Type) throws {
    let first = try Hanging<Editor>(typing: words, seed: 99)
    try first.editor.waitForScreen("[note: not stored]")
    first.service.send(SIGCONT)
    try first.editor.waitForScreen("[note]")
    try first.editor.quit()
    try first.editor.session.waitForEnd()
  }

  @Test func vimKeepsNoWordsThatTheServiceReadsInTheEnd() throws { try goOn(VimUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func neovimKeepsNoWordsThatTheServiceReadsInTheEnd() throws { try goOn(NeovimUnderTest.self) }

  private func goOn<Editor: VimLikeUnderTest>(_ kind: Editor.Type) throws {
    let first = try Hanging<Editor>(typing: words, seed: 98)
    try first.give(":e!")
    try first.editor.waitForScreen(told)
    #expect(first.unsent.count == 1)
    first.service.send(SIGCONT)
    try first.editor.waitForText(words)
    try first.editor.session.wait(for: "no file") { first.unsent == [] }
    try first.editor.quit()
    try first.editor.session.waitForEnd()
    #expect(first.user.recoveredTexts == [])
  }
}

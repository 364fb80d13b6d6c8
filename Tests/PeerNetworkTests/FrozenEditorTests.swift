import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork

/// A peer writes what Emacs 28.2 cannot display: into a shared note, its title, a name, and what the service says.
@Suite(
  .serialized,
  .enabled(
    if: NotesBinary.path != nil && ["vim", "emacs", "tmux"].allSatisfy { NotesBinary.find($0) != nil },
    "needs notes-lsp, vim, emacs and tmux"))
struct FrozenEditorTests {}

extension FrozenEditorTests {
  /// A paragraph separator that is no newline, inside an isolate: `emacs -Q` shows it for ever.
  private static let endless = "x\u{202E}y\u{2066}z\u{85}a\u{2069}b"
  /// Each of them, in each kind of isolate, and a line feed behind each.
  private static let relatives = ["\r", "\u{1C}", "\u{1D}", "\u{1E}", "\u{85}", "\u{2029}"].map { separator in
    ["\u{2066}", "\u{2067}", "\u{2068}"].map { "q\($0)w\(separator)e\u{2069}r\n" }.joined()
  }.joined()
  /// Lines for which every key takes Emacs seconds, or minutes.
  private static let slow =
    "top" + String(repeating: "\u{2068}", count: 9000) + "\n" + String(repeating: "(", count: 30_000) + "\n"
    + String(repeating: "\u{5D0}(", count: 15_000) + "\n"

  private static func editor(_ kind: String) throws -> any EditorUnderTest {
    let user = try NotesUser("Ana")
    return kind == "vim"
      ? try VimUnderTest(user: user, seed: 1, maximumDelay: .zero)
      : try EmacsUnderTest(user: user, seed: 1, maximumDelay: .zero)
  }

  @Test(arguments: ["emacs", "vim"])
  func aPeersTextLeavesTheEditorResponsive(kind: String) async throws {
    try await TestLoop.run { loop in
      let ana = try Self.editor(kind)
      let program = KnownProcess(ana.session.terminal.programProcessId)
      // One that is frozen hears no hangup.
      defer { program.send(SIGKILL) }
      try ana.createNote("Plans")
      _ = try ana.waitUntilAttached()
      try ana.share()
      let ticket = try ana.waitForTicket()
      if kind == "vim" { try ana.session.terminal.press("Escape") }
      try ana.beginTypingAtEnd()
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage(), listen: nil)
      let handle = try await eve.open(ticket)
      let host = try #require(eve.repo.peers.keys.first)
      for (number, attack) in [Self.endless + "\n", Self.relatives, Self.slow].enumerated() {
        try handle.change { document in
          guard let text = try document.contentId() else { return }
          try document.spliceText(obj: text, start: 0, delete: 0, value: attack)
        }
        try await eventually("the host has it", on: loop) { handle.inSync(with: host) }
        try ana.session.wait(for: "the text of attack \(number) in \(kind)") {
          Self.place(of: attack, in: try ana.state()?.text ?? "") != nil
        }
        // The keys of a person are on the screen, at the end and in the midst of it.
        try ana.session.terminal.type("alive\(number) ")
        try ana.waitForScreen("alive\(number)")
        try Self.goToTop(ana, kind)
        try ana.session.wait(for: "the beginning on the screen") {
          try ana.session.terminal.screen().contains(["x", "q", "top"][number])
        }
        try ana.endTyping()
        try ana.beginTypingAtEnd()
      }
      // Text from right to left is shown as such where no line is dangerous.
      if kind == "emacs" {
        #expect(try ana.evaluate("(with-current-buffer (window-buffer) bidi-display-reordering)") == .null)
        try handle.change { document in
          guard let text = try document.contentId(),
            let place = Self.place(of: Self.slow, in: try document.text(obj: text))
          else { return }
          try document.spliceText(
            obj: text, start: UInt64(place), delete: Int64(Self.slow.unicodeScalars.count), value: "")
        }
        try await eventually("the host has it", on: loop) { handle.inSync(with: host) }
        try ana.session.wait(for: "reordering to be on again") {
          try ana.evaluate("(with-current-buffer (window-buffer) (and bidi-display-reordering t))") == true
        }
      }
      try await eventually("what was typed reaches the guest unchanged", on: loop) {
        let text = (try? handle.document.content()) ?? ""
        return text.contains("alive2") && Self.place(of: Self.endless, in: text) != nil
          && Self.place(of: Self.relatives, in: text) != nil
      }
      try await eve.stop()
      try ana.quit()
      try ana.session.waitForEnd()
    }
  }

  /// Where a part begins, in scalars.
  private nonisolated static func place(of part: String, in text: String) -> Int? {
    let bytes = Data(text.utf8)
    return bytes.range(of: Data(part.utf8)).map {
      String(decoding: bytes[..<$0.lowerBound], as: UTF8.self).unicodeScalars.count
    }
  }

  private static func goToTop(_ editor: any EditorUnderTest, _ kind: String) throws {
    if kind == "vim" {
      try editor.session.terminal.press("Escape")
      try editor.session.terminal.type("gg0")
    } else {
      try editor.session.terminal.press("Escape", "<")
    }
  }

  /// A service of another make may say what ours would not: names at carets and in status, messages, titles in lists.
  @Test(arguments: ["emacs", "vim"])
  func whatIsSaidLeavesTheEditorResponsive(kind: String) throws {
    let ana = try Self.editor(kind)
    let program = KnownProcess(ana.session.terminal.programProcessId)
    defer { program.send(SIGKILL) }
    try ana.createNote("Plans")
    _ = try ana.waitUntilAttached()
    let uri = "file://" + (try #require(try ana.filePath()))
    for (number, words) in [Self.endless, Self.relatives].enumerated() {
      let name = JSONValue.string(words)
      let place: JSONValue = ["line": 0, "character": 0]
      let peer: JSONValue = [
        "peer": "p\(number)", "name": name, "color": 1, "letter": "E", "ranges": [["start": place, "end": place]],
        "state": "inSync", "inSync": true,
      ]
      let messages: [(String, JSONValue)] = [
        ("notes/event", ["uri": .string(uri), "kind": "joined", "peer": "p\(number)", "name": name, "message": name]),
        ("notes/statusChanged", ["uri": .string(uri), "stored": true, "access": "write", "peers": [peer]]),
        ("notes/cursors", ["uri": .string(uri), "version": 1, "rev": 0, "peers": [peer]]),
        ("window/showMessage", ["type": 1, "message": name]),
      ]
      for (method, params) in messages {
        let line = String(decoding: params.encoded(), as: UTF8.self)
        let whole = JSONValue.object(present: ["method": .string(method), "params": params])
        let message = String(decoding: whole.encoded(), as: UTF8.self)
        if kind == "vim" {
          // As it comes from the service, and so with everything that is done to it.
          _ = try ana.evaluate("NotesTestReceive(\(Self.vimString(message)))")
        } else {
          _ = try ana.evaluate(
            """
            (progn (notes-lsp--on-notification notes-lsp--link '\(method)
              (json-parse-string \(Self.lispString(line)) :object-type 'plist :false-object :json-false)) t)
            """)
        }
        try ana.beginTypingAtEnd()
        try ana.session.terminal.type("k")
        try ana.endTyping()
        let raw = try ana.session.terminal.screen().unicodeScalars
        #expect(!raw.contains { $0.properties.isBidiControl || (0x80...0x9F).contains($0.value) }, "\(method)")
      }
      try ana.beginTypingAtEnd()
      try ana.session.terminal.type(" alive\(number) ")
      try ana.waitForScreen("alive\(number)")
      try ana.endTyping()
    }
    try ana.quit()
    try ana.session.waitForEnd()
  }

  private static func vimString(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
  }

  private static func lispString(_ text: String) -> String {
    "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
  }

  /// Files too: one that is opened without a command, a text that was recovered, and a title that becomes a file's name.
  @Test func filesOfNotesLeaveEmacsResponsive() throws {
    let ana = try Self.editor("emacs")
    let program = KnownProcess(ana.session.terminal.programProcessId)
    defer { program.send(SIGKILL) }
    try ana.createNote("Plans \(Self.endless)")
    _ = try ana.waitUntilAttached()
    try ana.session.terminal.type("alive0 ")
    try ana.waitForScreen("alive0")
    let folder = ana.session.user.notes
    try FileManager.default.createDirectory(atPath: folder + "/.recovered", withIntermediateDirectories: true)
    for (number, name) in ["Plain.md", ".recovered/Plans \u{2066}\u{85}\u{2069}.md"].enumerated() {
      let path = folder + "/" + name
      try (Self.endless + "\n" + Self.relatives + Self.slow).write(toFile: path, atomically: true, encoding: .utf8)
      try ana.session.send([
        "expr", .string("(progn (find-file \(Self.lispString(path))) (goto-char (point-min)) t)"), 0,
      ])
      // Keys come another way than the command, and must not overtake it.
      try ana.session.wait(for: "the file to be shown") { try ana.filePath()?.hasSuffix(name) == true }
      try ana.session.terminal.type("alive\(number + 1) ")
      try ana.waitForScreen("alive\(number + 1)")
      _ = try ana.evaluate("(progn (set-buffer-modified-p nil) (kill-buffer) t)")
    }
    try ana.quit()
    try ana.session.waitForEnd()
  }
}

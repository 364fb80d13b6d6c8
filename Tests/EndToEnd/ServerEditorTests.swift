import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// People at real editors who can only reach a server: each connects by typing the plugin's command.
@Suite(
  .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment),
  .enabled(if: TestAuthority.isAvailable, "needs openssl"))
struct ServerEditorTests {
  private static let token = "TOKEN-of-the-tests"

  private let authority: TestAuthority
  private let directory: TemporaryDirectory
  private let access: String

  init() throws {
    authority = try TestAuthority()
    directory = try TemporaryDirectory()
    access = directory.file("access.json")
    try #"{"tokens": {"\#(Self.token)": {"access": "write", "create": true}}}"#
      .write(toFile: access, atomically: true, encoding: .utf8)
  }
}

extension ServerEditorTests {
  private func server(isEncrypted: Bool) throws -> ServerProcess {
    let certificate = ["--certificate", authority.certificateFile, "--key", authority.keyFile]
    return try ServerProcess(
      home: try directory.directory("server"),
      options: ["--access", access, "--websocket", "127.0.0.1:0"] + (isEncrypted ? certificate : []))
  }

  @Test(arguments: [true, false])
  func everyEditorConnectsPublishesAndJoins(isEncrypted: Bool) throws {
    let server = try server(isEncrypted: isEncrypted)
    #expect(server.websocket.hasPrefix(isEncrypted ? "wss:" : "ws:"))
    let vim = try VimUnderTest(user: NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let emacs = try EmacsUnderTest(user: NotesUser("Ben"), seed: 2, maximumDelay: .zero)
    var editors: [any EditorUnderTest] = [vim, emacs]
    if NeovimUnderTest.isHere {
      editors.append(try NeovimUnderTest(user: NotesUser("Cyd"), seed: 3, maximumDelay: .zero))
    }
    let environment = ["env", "SSL_CERT_FILE=\(authority.authorityFile)"]
    for editor in editors { try editor.setServiceCommand { environment + $0 } }
    for (number, owner) in editors.enumerated() {
      try owner.createNote("Note\(number)")
      try owner.session.wait(for: "the note") { try owner.filePath()?.contains("Note\(number)") == true }
      let id = try owner.waitUntilAttached()
      try connect(owner, to: server)
      try answerPublish(owner)
      let ticket = try publishedTicket(owner)
      #expect(ticket.hasPrefix("\(server.websocket)#automerge:"))
      // All people join the first note; each further note is joined by one person.
      for guest in number == 0 ? Array(editors.dropFirst()) : [editors[number - 1]] {
        // Without an open note, so the editor offers nothing.
        if number == 0 { try connect(guest, to: server) }
        try guest.join(ticket)
        try guest.session.wait(for: "the other's note") { try guest.documentId() == id }
        _ = try guest.waitUntilAttached()
        try typeBothWays("\(number)", owner, guest)
      }
    }
    for editor in editors {
      try editor.quit()
      try editor.session.waitForEnd()
    }
    #expect(try server.end() == .code(0))
  }

  // MARK: On the keyboard

  private func connect(_ editor: any EditorUnderTest, to server: ServerProcess) throws {
    let terminal = editor.session.terminal
    guard editor is EmacsUnderTest else {
      try terminal.press("Escape")
      try terminal.type(":NotesConnect \(server.websocket) \(Self.token)")
      try terminal.press("Enter")
      return try waitUntilConnected(editor)
    }
    try terminal.press("M-x")
    try editor.waitForScreen("M-x")
    try terminal.type("notes-connect")
    try editor.waitForScreen("notes-connect")
    try terminal.press("Enter")
    try editor.waitForScreen("Server (wss://host/)")
    try terminal.type(server.websocket)
    try editor.waitForScreen(server.websocket)
    try terminal.press("Enter")
    try editor.waitForScreen("Token (RET: none)")
    try terminal.type(Self.token)
    try terminal.press("Enter")
    try waitUntilConnected(editor)
  }

  /// With an open note, the question may have replaced the message.
  private func waitUntilConnected(_ editor: any EditorUnderTest) throws {
    try editor.session.wait(for: "the connection") {
      let screen = try editor.session.terminal.screen()
      return ["Connected to", "Publish this note", "publish on"].contains { screen.contains($0) }
    }
  }

  /// Publishes the current note, answering the editor's question.
  private func answerPublish(_ editor: any EditorUnderTest) throws {
    let terminal = editor.session.terminal
    if editor is EmacsUnderTest {
      try editor.waitForScreen("Publish this note")
      try terminal.type("y")
    } else {
      try editor.waitForScreen("publish on")
      // The harmless choice is the first in Vim.
      try terminal.type(editor is NeovimUnderTest ? "1" : "j")
      try terminal.press("Enter")
    }
    try editor.waitForScreen("Published")
  }

  private func publishedTicket(_ editor: any EditorUnderTest) throws -> String {
    let code =
      switch editor {
      case is EmacsUnderTest: "(substring-no-properties (car kill-ring))"
      case is NeovimUnderTest: "vim.fn.getreg('\"')"
      default: "getreg('\"')"
      }
    return try editor.evaluate(code).stringValue ?? ""
  }

  /// Each person types a word, which the other must receive.
  private func typeBothWays(_ word: String, _ first: any EditorUnderTest, _ second: any EditorUnderTest) throws {
    for (writer, reader) in [(first, second), (second, first)] {
      let word = "\(type(of: writer).kind)\(word)"
      try writer.beginTypingAtEnd()
      try writer.session.terminal.type("\(word) ")
      try reader.waitForText(word)
      try writer.endTyping()
    }
  }
}

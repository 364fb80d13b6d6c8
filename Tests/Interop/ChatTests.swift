import Foundation
import NotesHarness
import TestSupport
import Testing

/// The chat of the tutorial, on servers that others run.
@Suite(.enabled(if: ChatTerminal.program != nil, "chat is not built"))
struct ChatTests {}

extension ChatTests {
  @Test func twoTerminalsMeetOnAServerThatIsAlwaysOn() throws {
    let directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"plum-otter": {"access": "write", "create": true}}}"#
      .write(toFile: access, atomically: true, encoding: .utf8)
    let server = try ServerProcess(
      home: try directory.directory("server"), options: ["--websocket", "127.0.0.1:0", "--access", access])
    let ana = try ChatTerminal(["Ana", "plum-otter", server.websocket])
    let invitation = try ana.invitation()
    #expect(invitation.last == server.websocket)
    ana.type("Anybody here?")
    #expect(try ana.nextLine() == "Ana: Anybody here?")
    let ben = try ChatTerminal(["Ben", "plum-otter"] + invitation)
    ben.type("I am.")
    #expect(try ben.nextLine() == "Ana: Anybody here?")
    #expect(try ben.nextLine() == "Ben: I am.")
    #expect(try ana.nextLine() == "Ben: I am.")
    // The room stays on the server when all have left.
    #expect(try ana.close() == .code(0))
    #expect(try ben.close() == .code(0))
    let zoe = try ChatTerminal(["Zoe", "plum-otter"] + invitation)
    zoe.type("Too late?")
    #expect(try (0..<3).map { _ in try zoe.nextLine() } == ["Ana: Anybody here?", "Ben: I am.", "Zoe: Too late?"])
    #expect(try zoe.close() == .code(0))
    #expect(try server.end() == .code(0))
  }

  @Test(.enabled(if: Reference.websocketPython != nil, Comment(rawValue: Reference.websocketAbsence)))
  func aTerminalChatsWithAPeerInPython() throws {
    let python = try InteropProcess.python()
    try python.tell("py", "start", ["seed": 1])
    let url = try #require(try python.tell("py", "listen", ["token": "plum-otter"])["url"].string)
    let ana = try ChatTerminal(["Ana", "plum-otter", url])
    let room = try #require(try ana.invitation().first).replacing("automerge:", with: "")
    ana.type("Anybody here?")
    #expect(try ana.nextLine() == "Ana: Anybody here?")
    try python.tell("py", "open", ["document": room])
    try waitForLines(["Ana: Anybody here?"], of: room, at: python)
    try python.tell("py", "say", ["document": room, "line": "py: I am."])
    #expect(try ana.nextLine() == "py: I am.")
    ana.type("Good.")
    #expect(try ana.nextLine() == "Ana: Good.")
    try waitForLines(["Ana: Anybody here?", "py: I am.", "Ana: Good."], of: room, at: python)
    #expect(try ana.close() == .code(0))
    try python.tell("py", "stop")
  }

  private func waitForLines(_ lines: [String], of room: String, at python: InteropProcess) throws {
    let deadline = ContinuousClock.now + Patience.hang
    while true {
      let state = try python.state(of: "py", room)
      if state.lines == lines { return }
      try #require(ContinuousClock.now < deadline, "the peer has \(state.lines ?? [])")
      poll(nil, 0, 5)
    }
  }
}

import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// `notes-lsp serve` from the view of its operator and its peers.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct ServeTests {
  private let directory: TemporaryDirectory
  private let home: String

  init() throws {
    directory = try TemporaryDirectory()
    home = try directory.directory("server")
  }
}

extension ServeTests {
  private func accessFile(_ text: String) throws -> String {
    let path = directory.file("access.json")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  @Test func oneLineSaysThatItIsReadyAndTheRestGoesToStandardError() throws {
    let server = try ServerProcess(home: home, options: ["--metrics", "127.0.0.1:0", "--log-level", "info"])
    #expect(server.ready["ready"] == true)
    #expect(server.listen.hasPrefix("127.0.0.1:") && !server.listen.hasSuffix(":0"))
    #expect(server.ready["metrics"]?.stringValue?.hasSuffix("/metrics") == true)
    #expect(server.ready["websocket"] == nil)
    #expect(!server.peer.isEmpty)
    #expect(try server.end() == .code(0))
    #expect(server.child.output.isEmpty)
  }

  @Test(arguments: [SIGTERM, SIGINT]) func eitherSignalEndsIt(_ signal: Int32) throws {
    let server = try ServerProcess(home: home)
    server.signal(signal)
    #expect(try server.child.waitForExit() == .code(0))
  }

  @Test func aCommandSeesThatItRuns() throws {
    let server = try ServerProcess(home: home)
    let status = try JSONValue(parsing: try server.run(["status", "--json"]).output)
    #expect(status["running"] == true)
    #expect(status["service"]?["stored"] == true)
    #expect(status["service"]?["network"] == "on")
    // Only one server at a time may use its store.
    let second = try ChildProcess.run(ServerProcess.command(home: home, options: []))
    #expect(second.exit == .code(1))
    #expect(String(decoding: second.errorOutput, as: UTF8.self).contains("Another notes-lsp already serves"))
  }

  @Test func aBadAccessFileIsRefusedAtTheStartAndLeftAloneLater() throws {
    let path = try accessFile("{\"default\": \"none\"")
    let refused = try ChildProcess.run(ServerProcess.command(home: home, options: ["--access", path]))
    #expect(refused.exit == .code(1))
    #expect(String(decoding: refused.errorOutput, as: UTF8.self).contains("line 1, column 19 is not JSON"))
    _ = try accessFile(#"{"tokens": {"TOKEN": {"access": "write"}}}"#)
    let server = try ServerProcess(home: home, options: ["--access", path])
    _ = try accessFile(#"{"tokens": {"hush-hush": {"access": "all"}}}"#)
    server.signal(SIGHUP)
    try server.waitForLog("tokens, entry 1, access: write \"none\", \"read\" or \"write\". The old one stays in force.")
    #expect(!server.log.contains("hush"))
    _ = try accessFile("{}")
    server.signal(SIGHUP)
    try server.waitForLog("The access file was read again: 0 tokens, 0 peers.")
    #expect(try server.end() == .code(0))
  }

  @Test func whatCannotBeHadIsSaidInOneLine() throws {
    let server = try ServerProcess(home: home)
    let other = try directory.directory("other")
    for options in [["--listen", server.listen], ["--listen", "nowhere"], ["--metrics", server.listen]] {
      let result = try ChildProcess.run(ServerProcess.command(home: other, options: options))
      #expect(result.exit == .code(1), "\(options)")
      let lines = String(decoding: result.errorOutput, as: UTF8.self).split(separator: "\n")
      #expect(lines.last?.hasPrefix("notes-lsp: ") == true, "\(options): \(lines)")
      #expect(result.output.isEmpty)
    }
  }

  /// Two people who are never online together: when the second connects, the server has the words of the first.
  @Test func aNoteOfTheServersOutlivesEveryVisitAndTheServersOwnEnd() throws {
    var server = try ServerProcess(home: home, options: ["--metrics", "127.0.0.1:0"])
    let created = try server.run(["new", "Shopping", "--json", "--notes", directory.file("server-notes")])
    try #require(created.exit == .code(0))
    func ticket() throws -> String {
      let shared = try server.run(["share", "Shopping", "--json", "--notes", directory.file("server-notes")])
      return try #require(try JSONValue(parsing: shared.output)["ticket"]?.stringValue)
    }
    do {
      let ana = try JoinedNote("Ana", ticket: try ticket())
      ana.client.edit(0..<0, with: "milk\n")
      ana.client.flush()
      try ana.process.waitFor("the server has it") {
        let peers = try ana.process.request("notes/status", ["uri": .string(ana.client.uri)])["peers"]?.arrayValue
        return peers?.first?["inSync"] == true
      }
      #expect(try server.metrics()["notes_connections{network=\"peers\"}"] == 1)
      try ana.process.shutdown()
    }
    #expect(try server.end() == .code(0))
    server = try ServerProcess(home: home)
    let ben = try JoinedNote("Ben", ticket: try ticket())
    #expect(ben.client.text.string == "milk\n")
    expectNoComplaints(ben.client)
  }

  @Test(.enabled(if: NotesBinary.find("systemd-analyze") != nil))
  func theUnitForSystemdIsSoundAndItsSandboxTight() throws {
    let source = NotesBinary.packageRoot + "/Sources/Documentation/notes-lsp.service"
    let unit = directory.file("notes-lsp.service")
    try String(contentsOfFile: source, encoding: .utf8)
      .replacing("/usr/local/bin/notes-lsp", with: try #require(NotesBinary.path))
      .write(toFile: unit, atomically: true, encoding: .utf8)
    let verified = try ChildProcess.run(["systemd-analyze", "verify", unit])
    #expect(verified.exit == .code(0), "\(String(decoding: verified.errorOutput, as: UTF8.self))")
    // Tenths of the exposure level, where 100 is no sandbox at all.
    let secure = try ChildProcess.run(["systemd-analyze", "security", "--offline=true", "--threshold=15", unit])
    #expect(secure.exit == .code(0), "\(String(decoding: secure.output, as: UTF8.self).suffix(200))")
  }
}

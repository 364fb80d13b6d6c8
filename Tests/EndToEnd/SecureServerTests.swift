import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A server with a certificate (`wss`), and people whose services can only reach that server.
@Suite(
  .ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment),
  .enabled(if: TestAuthority.isAvailable, "needs openssl"))
struct SecureServerTests {
  private static let token = "TOKEN-of-the-tests"

  private let directory: TemporaryDirectory
  private let authority: TestAuthority
  private let server: ServerProcess

  init() throws {
    directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"\#(Self.token)": {"access": "write", "create": true}}}"#
      .write(toFile: access, atomically: true, encoding: .utf8)
    authority = try TestAuthority()
    server = try ServerProcess(
      home: try directory.directory("server"),
      options: [
        "--access", access, "--websocket", "127.0.0.1:0",
        "--certificate", authority.certificateFile, "--key", authority.keyFile,
      ])
  }
}

extension SecureServerTests {
  /// A person's service.
  ///
  /// - Parameter trusts: whether this person's system trusts the authority.
  private func start(_ name: String, trusts: Bool = true) throws -> NotesProcess {
    let user = try NotesUser(name)
    let environment = trusts ? ["SSL_CERT_FILE": authority.authorityFile] : [:]
    let child = try ChildProcess(user.command(["--log", user.logPath]), environment: environment)
    let process = NotesProcess(child, of: user)
    try process.initialize(userName: name)
    return process
  }

  private func connect(_ process: NotesProcess) throws -> JSONValue {
    try process.request("notes/connect", ["url": .string(server.websocket), "token": .string(Self.token)])
  }

  @Test func bothPublishAndSeeTheOthersTyping() throws {
    #expect(server.websocket.hasPrefix("wss://127.0.0.1:"))
    let people = [try start("Ana"), try start("Ben")]
    for person in people { #expect(try connect(person)["state"] == "connected") }
    // Each person publishes a note, and the other joins it by its URL: without a ticket and without any other link.
    for (owner, guest) in [(people[0], people[1]), (people[1], people[0])] {
      let note = try owner.request("notes/create", ["title": "Shopping", "text": "milk\n"])
      let mine = try ModelClient(owner, note: note)
      let published = try owner.request(
        "notes/publish", ["uri": .string(mine.uri), "url": .string(server.websocket)])
      let theirs = try ModelClient(
        guest, note: try guest.request("notes/join", ["ticket": published["url"] ?? .null]))
      #expect(theirs.text.string == "milk\n")
      theirs.edit(0..<0, with: "bread\n")
      theirs.flush()
      mine.edit(5..<5, with: "oats\n")
      mine.flush()
      try ModelClient.waitForConvergence([mine, theirs])
      #expect(mine.text.string.contains("bread\n") && mine.text.string.contains("oats\n"))
      expectNoComplaints(mine, theirs)
    }
    #expect(try server.end() == .code(0))
  }

  @Test func aServerWithAnUntrustedCertificateIsRefusedAndTheReasonSaid() throws {
    let ana = try start("Ana", trusts: false)
    let answer = try connect(ana)
    #expect(answer["state"] == "waiting")
    #expect(answer["message"]?.stringValue?.contains("certificate") == true, "\(answer)")
    #expect(!server.log.contains(Self.token))
  }
}

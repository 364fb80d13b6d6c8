import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A server with a certificate (`wss`), and people whose services have nothing in common but that server.
@Suite(
  .ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment),
  .enabled(if: NotesBinary.find("openssl") != nil, "needs openssl"))
struct SecureServerTests {
  private static let token = "TOKEN-of-the-tests"

  private let directory: TemporaryDirectory
  private let server: ServerProcess

  init() throws {
    directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"\#(Self.token)": {"access": "write", "create": true}}}"#
      .write(toFile: access, atomically: true, encoding: .utf8)
    try Self.makeCertificate(in: directory)
    server = try ServerProcess(
      home: try directory.directory("server"),
      options: [
        "--access", access, "--websocket", "127.0.0.1:0",
        "--certificate", directory.file("server.pem"), "--key", directory.file("server.key"),
      ])
  }

  /// An authority of our own, and a certificate that it has signed for 127.0.0.1.
  private static func makeCertificate(in directory: TemporaryDirectory) throws {
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    let (authority, authorityKey) = (directory.file("ca.pem"), directory.file("ca.key"))
    let requests = [
      ["-subj", "/CN=authority", "-keyout", authorityKey, "-out", authority],
      [
        "-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1",
        "-addext", "basicConstraints=critical,CA:FALSE", "-CA", authority, "-CAkey", authorityKey,
        "-keyout", directory.file("server.key"), "-out", directory.file("server.pem"),
      ],
    ]
    for request in requests {
      let result = try ChildProcess.run(["openssl", "req", "-x509"] + curve + request)
      guard result.exit == .code(0) else {
        throw ProcessError.ended(waitingFor: "openssl", details: String(decoding: result.errorOutput, as: UTF8.self))
      }
    }
  }

  /// A person's service.
  ///
  /// - Parameter trusts: whether the system of that person trusts the authority.
  private func start(_ name: String, trusts: Bool = true) throws -> NotesProcess {
    let user = try NotesUser(name)
    let environment = trusts ? ["SSL_CERT_FILE": directory.file("ca.pem")] : [:]
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
    // Each publishes a note of their own, and the other joins it by its URL: no ticket, no other way between them.
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

  @Test func aServerWhoseCertificateNobodyVouchesForIsRefusedAndSaid() throws {
    let ana = try start("Ana", trusts: false)
    let answer = try connect(ana)
    #expect(answer["state"] == "waiting")
    #expect(answer["message"]?.stringValue?.contains("certificate") == true, "\(answer)")
    #expect(!server.log.contains(Self.token))
  }
}

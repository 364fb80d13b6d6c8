import Foundation
import NotesHarness
import TestSupport
import Testing

/// What those get who come to a service's port and are no peers of its kind: nothing, and cheaply.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct RefusalTests {
  private static let openSSL = NotesBinary.find("openssl")

  /// A service with a shared note, its port, and certificates for the uninvited.
  private struct Host {
    let process: NotesProcess
    let client: ModelClient
    let port: String
    let directory: TemporaryDirectory

    init() throws {
      let user = try NotesUser("Ana")
      process = try user.start(extra: ["--log-level", "info"])
      try process.initialize(userName: "Ana")
      let created = try process.request("notes/create", ["title": "Shopping", "text": "a secret word\n"])
      client = try ModelClient(process, note: created)
      let line = try #require(user.log.firstMatch(of: /Listening at 127\.0\.0\.1:(\d+)/))
      port = String(line.1)
      directory = try TemporaryDirectory()
    }

    func ticket() throws -> String {
      try #require(try process.request("notes/share", ["id": .string(client.id)])["ticket"]?.stringValue)
    }

    /// A self-signed certificate; `-newkey` names its kind.
    func makeCertificate(_ kind: String) throws -> [String] {
      let (key, certificate) = (directory.file("\(kind).key"), directory.file("\(kind).pem"))
      let result = try ChildProcess.run([
        "openssl", "req", "-x509", "-newkey", kind, "-nodes", "-keyout", key, "-out", certificate, "-days", "1",
        "-subj", "/CN=stranger",
      ])
      try #require(result.exit == .code(0))
      return ["-key", key, "-cert", certificate]
    }

    /// Connects, says something, and returns all that came of it.
    func call(_ options: [String]) throws -> String {
      let child = try ChildProcess(["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-quiet"] + options)
      child.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
      try child.waitForExit()
      return String(decoding: child.output, as: UTF8.self)
    }

    /// How much of the processor the service has had, in milliseconds.
    func processorMilliseconds() throws -> Double {
      // Of the thread with the loop: nanoseconds that it ran, nanoseconds that it waited, and how often.
      let line = try String(contentsOfFile: "/proc/\(process.child.processId)/schedstat", encoding: .utf8)
      return try #require(line.split(separator: " ").first.flatMap { Double($0) }) / 1e6
    }
  }

  @Test(.enabled(if: openSSL != nil, "SKIPPED: needs the program openssl"))
  func whoeverIsNoPeerGetsNothingAndCostsLittle() throws {
    let host = try Host()
    let ours = try host.makeCertificate("ed25519")
    let protocolName = ["-alpn", "notes-lsp/1"]
    let callers: [(String, [String])] = [
      ("TLS 1.2", ["-tls1_2"] + ours + protocolName), ("no certificate", ["-tls1_3"] + protocolName),
      ("another kind of key", ["-tls1_3"] + (try host.makeCertificate("rsa:2048")) + protocolName),
      ("another protocol", ["-tls1_3", "-alpn", "h2"] + ours), ("no protocol", ["-tls1_3"] + ours),
      ("a stranger's certificate and no peer's words", ["-tls1_3"] + ours + protocolName),
    ]
    for (what, options) in callers {
      let before = try host.processorMilliseconds()
      let rounds = 8
      for _ in 0..<rounds { #expect(try host.call(options) == "", "\(what)") }
      let each = (try host.processorMilliseconds() - before) / Double(rounds)
      print("refused, \(what): \((each * 100).rounded() / 100) ms of the processor each")
      #expect(each < 5, "\(what): \(each) ms")
    }
    // And the peers are undisturbed.
    let ben = try JoinedNote("Ben", ticket: try host.ticket())
    #expect(ben.client.text.string == "a secret word\n")
  }

  @Test func whatIsNotEncryptedGetsNothing() throws {
    let host = try Host()
    let python = try #require(NotesBinary.find("python3"))
    let script = """
      import socket, sys
      for first in [b"", b"GET / HTTP/1.1\\r\\n\\r\\n", bytes([0, 0, 0, 60]) + b"x" * 60, bytes([22, 3, 1, 255, 255]) * 9]:
          s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
          s.sendall(first)
          if not first: s.shutdown(socket.SHUT_WR)
          got = b""
          try:
              while chunk := s.recv(4096): got += chunk
          except ConnectionError: pass
          # At most an alert of TLS: seven bytes.
          print(len(got) <= 7)
      """
    let before = try host.processorMilliseconds()
    let result = try ChildProcess.run([python, "-c", script, host.port])
    let each = (try host.processorMilliseconds() - before) / 4
    print("refused, plain TCP: \((each * 100).rounded() / 100) ms of the processor each")
    #expect(each < 5)
    #expect(String(decoding: result.output, as: UTF8.self) == "True\nTrue\nTrue\nTrue\n")
    #expect(try JoinedNote("Ben", ticket: try host.ticket()).client.text.string == "a secret word\n")
  }
}

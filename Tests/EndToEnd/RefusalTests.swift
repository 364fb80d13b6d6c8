import Foundation
import NotesHarness
import TestSupport
import Testing

/// Callers of a service's port that are not peers get nothing, and cost little.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct RefusalTests {}

extension RefusalTests {
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
    func makeCertificate(_ kind: String, _ options: [String] = []) throws -> [String] {
      let (key, certificate) = (directory.file("\(kind).key"), directory.file("\(kind).pem"))
      let result = try ChildProcess.run(
        [
          "openssl", "req", "-x509", "-newkey", kind, "-nodes", "-keyout", key, "-out", certificate, "-days", "1",
          "-subj", "/CN=stranger",
        ] + options)
      try #require(result.exit == .code(0))
      return ["-key", key, "-cert", certificate]
    }

    /// Connects, sends something, and returns the whole response.
    func call(_ options: [String]) throws -> String {
      let child = try ChildProcess(["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-quiet"] + options)
      child.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
      try child.waitForExit()
      return String(decoding: child.output, as: UTF8.self)
    }

    /// The processor time of the service, in milliseconds.
    func processorMilliseconds() throws -> Double {
      // The loop's thread: nanoseconds that it ran, nanoseconds that it waited, and how often.
      let line = try String(contentsOfFile: "/proc/\(process.child.processId)/schedstat", encoding: .utf8)
      return try #require(line.split(separator: " ").first.flatMap { Double($0) }) / 1e6
    }
  }

  @Test(.enabled(if: openSSL != nil, "SKIPPED: needs the program openssl"))
  func callersThatAreNoPeersGetNothingAndCostLittle() throws {
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
    // Peers are not affected.
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

  @Test(.enabled(if: openSSL != nil, "SKIPPED: needs the program openssl"))
  func aCertificateOfAMegabyteGetsNothing() throws {
    let host = try Host()
    // Enough names to fill it.
    let names = (0..<20_000).map { "DNS.\($0 + 1) = \(String(repeating: "x", count: 40))\($0).example" }
    let configuration = host.directory.file("large.cnf")
    let text = """
      [req]
      distinguished_name = name
      x509_extensions = extensions
      [name]
      [extensions]
      subjectAltName = @names
      [names]
      \(names.joined(separator: "\n"))

      """
    try text.write(toFile: configuration, atomically: true, encoding: .utf8)
    let large = try host.makeCertificate("ed25519", ["-config", configuration])
    let size = try FileManager.default.attributesOfItem(atPath: large[3])[.size] as? Int
    #expect(try #require(size) > 1_000_000)
    let before = try host.processorMilliseconds()
    #expect(try host.call(["-tls1_3", "-alpn", "notes-lsp/1"] + large) == "")
    let cost = try host.processorMilliseconds() - before
    print("refused, a certificate of a megabyte: \((cost * 100).rounded() / 100) ms of the processor")
    #expect(cost < 20)
    #expect(try JoinedNote("Ben", ticket: try host.ticket()).client.text.string == "a secret word\n")
  }

  @Test func aThousandCallersInASecondAndGreetingsSaidAgainGetNothing() throws {
    let host = try Host()
    let python = try #require(NotesBinary.find("python3"))
    let script = """
      import socket, ssl, sys, time
      port = int(sys.argv[1])
      for _ in range(1000):
          with socket.create_connection(("127.0.0.1", port)) as s: s.sendall(b"x")

      # A whole handshake from the client's side, recorded, and then said again word for word.
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
      context.check_hostname = False
      context.verify_mode = ssl.CERT_NONE
      context.set_alpn_protocols(["notes-lsp/1"])
      def answer(s, bytes):
          s.sendall(bytes)
          return s.recv(65536)
      def rest(s):
          got = b""
          try:
              while chunk := s.recv(65536): got += chunk
          except ConnectionError: pass
          return got
      def shake():
          coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
          tls = context.wrap_bio(coming, going)
          said, heard = [], b""
          with socket.create_connection(("127.0.0.1", port)) as s:
              s.settimeout(20)
              while True:
                  try:
                      tls.do_handshake()
                      break
                  except ssl.SSLWantReadError:
                      pass
                  out = going.read()
                  if out: said.append(out); s.sendall(out)
                  try:
                      chunk = s.recv(65536)
                  except ConnectionError:
                      chunk = b""
                  if not chunk: return None
                  heard += chunk
                  coming.write(chunk)
              said.append(going.read())
          return said, heard
      # As long as too many callers are there whom it has not looked at, a service sends new ones away.
      recorded, end = None, time.monotonic() + 15
      while recorded is None and time.monotonic() < end: recorded = shake()
      said, heard = recorded
      with socket.create_connection(("127.0.0.1", port)) as s:
          s.settimeout(20)
          first = answer(s, said[0])
          # The service's part is new each time.
          print(first[11:43] != heard[11:43])
          s.sendall(b"".join(said[1:]))
          # What was meant for another conversation ends this one: at most the rest of a greeting, and an alert.
          print(len(rest(s)) < 4096)
      """
    let before = try host.processorMilliseconds()
    let result = try ChildProcess.run([python, "-c", script, host.port])
    let each = (try host.processorMilliseconds() - before) / 1002
    print("refused, a thousand callers: \((each * 100).rounded() / 100) ms of the processor each")
    #expect(each < 5)
    #expect(
      String(decoding: result.output, as: UTF8.self) == "True\nTrue\n",
      "\(String(decoding: result.errorOutput, as: UTF8.self))"
    )
    #expect(try JoinedNote("Ben", ticket: try host.ticket()).client.text.string == "a secret word\n")
  }
}

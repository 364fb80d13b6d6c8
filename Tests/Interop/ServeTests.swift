import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// `notes-lsp` itself and peers that others could have written, by `wss`: programs that call our server, and a person's service that
/// calls theirs. The certificates are their own authorities.
@Suite(
  .enabled(
    if: Reference.websocketPython != nil && NotesBinary.path != nil && TestAuthority.isAvailable,
    "needs notes-lsp, openssl, and a Python with automerge, cbor2 and websockets"), .serialized)
struct ServeTests {
  private let authority: TestAuthority
  private let python: InteropProcess

  init() throws {
    authority = try TestAuthority(isSelfSigned: true)
    python = try InteropProcess.python()
  }
}

extension ServeTests {
  private func start(_ names: [String]) throws {
    for (seed, name) in names.enumerated() {
      try python.tell(name, "start", ["seed": seed, "habits": ["map16", "storage"]])
    }
  }

  /// Waits until all have one text, and returns it.
  private func text(of document: String, at names: [String], where holds: (String) -> Bool) throws -> String {
    let deadline = ContinuousClock.now + Patience.hang
    while true {
      let states = try names.map { try python.state(of: $0, document) }
      if let text = states[0].text, holds(text),
        states.allSatisfy({ $0.text == text && $0.heads == states[0].heads })
      {
        return text
      }
      guard ContinuousClock.now < deadline else { throw NeverEqual(description: "\(states)") }
      poll(nil, 0, 5)
    }
  }

  private struct NeverEqual: Error, CustomStringConvertible { let description: String }

  @Test func programsOfOthersWriteOneDocumentThroughOurServer() throws {
    let directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"key": {"access": "write", "create": true}}}"#
      .write(toFile: access, atomically: true, encoding: .utf8)
    let options = [
      "--access", access, "--websocket", "127.0.0.1:0", "--certificate", authority.certificateFile, "--key",
      authority.keyFile,
    ]
    let server = try ServerProcess(home: try directory.directory("server"), options: options)
    try start(["one", "two"])
    for name in ["one", "two"] {
      try python.tell(
        name, "connect", ["url": server.websocket, "token": "key", "authority": authority.authorityFile])
    }
    let document = try #require(try python.tell("one", "create", ["text": "words"])["document"].string)
    try python.tell("two", "open", ["document": document])
    _ = try text(of: document, at: ["one", "two"]) { $0 == "words" }
    try python.tell("two", "splice", ["document": document, "at": 5, "delete": 0, "insert": " of both"])
    try python.tell("one", "splice", ["document": document, "at": 0, "delete": 1, "insert": "W"])
    let both = try text(of: document, at: ["one", "two"]) { $0 == "Words of both" }
    for name in ["one", "two"] { try python.tell(name, "stop") }
    #expect(try server.end() == .code(0))
    // What the server has stored is what they wrote.
    let stored = try ServerProcess(home: try directory.directory("server"), options: options)
    try start(["three"])
    try python.tell(
      "three", "connect", ["url": stored.websocket, "token": "key", "authority": authority.authorityFile])
    try python.tell("three", "open", ["document": document])
    #expect(try text(of: document, at: ["three"]) { $0 == both } == both)
    try python.tell("three", "stop")
    #expect(try stored.end() == .code(0))
  }

  @Test func aPersonPublishesANoteOnAServerOfOthers() throws {
    try start(["server"])
    let url = try #require(
      try python.tell(
        "server", "listen", ["token": "key", "certificate": authority.certificateFile, "key": authority.keyFile])["url"]
        .string)
    #expect(url.hasPrefix("wss:"))
    let user = try NotesUser("Ana")
    let process = NotesProcess(
      try ChildProcess(user.command(["--log", user.logPath]), environment: ["SSL_CERT_FILE": authority.authorityFile]),
      of: user)
    try process.initialize(userName: "Ana")
    #expect(try process.request("notes/connect", ["url": .string(url), "token": "key"])["state"] == "connected")
    let note = try process.request("notes/create", ["title": "Shopping", "text": "milk\n"])
    let client = try ModelClient(process, note: note)
    _ = try process.request("notes/publish", ["uri": .string(client.uri), "url": .string(url)])
    let document = client.id
    _ = try text(of: document, at: ["server"]) { $0 == "milk\n" }
    try python.tell("server", "splice", ["document": document, "at": 0, "delete": 0, "insert": "bread\n"])
    try process.waitFor("the other's line") { client.text.string == "bread\nmilk\n" }
    client.edit(0..<0, with: "oats\n")
    client.flush()
    _ = try text(of: document, at: ["server"]) { $0 == "oats\nbread\nmilk\n" }
    try process.shutdown()
    try python.tell("server", "stop")
  }
}

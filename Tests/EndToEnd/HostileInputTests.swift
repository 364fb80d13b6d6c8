import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Bytes that no editor should send: the process answers them, and continues unless it can no longer find the next
/// frame.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct HostileInputTests {}

extension HostileInputTests {
  @Test(arguments: [
    "Content-Length: 1073741825\r\n\r\n", "Content-Length: 99999999999999999999999\r\n\r\n",
    "Content-Length: -1\r\n\r\n",
    "Content-Length: many\r\n\r\n", "Content-Type: application/json\r\n\r\n{}",
    "X: " + String(repeating: "x", count: 9000),
  ])
  func aFrameWithoutAUsableLengthEndsTheConnection(bytes: String) throws {
    let process = try NotesUser("Ana").startInitialized()
    process.sendRaw(bytes)
    #expect(try process.child.waitForExit() == .code(1))
    try process.collect()
    if let answer = process.messages.last(where: { $0["error"] != nil }) {
      #expect(answer["error"]?["code"] == -32700)
      #expect(answer["id"] == .null)
    }
  }

  @Test func aLengthThatIsTooShortEndsTheConnection() throws {
    let process = try NotesUser("Ana").startInitialized()
    process.sendRaw("Content-Length: 5\r\n\r\n" + #"{"jsonrpc":"2.0","id":9,"method":"notes/list"}"# + "\r\n\r\n")
    #expect(try process.child.waitForExit() == .code(1))
  }

  @Test func aLengthThatIsTooLongIsTheEndWhenTheInputEnds() throws {
    let note = try OpenNote()
    note.client.edit(0..<0, with: "kept")
    note.client.flush()
    note.process.sendRaw("Content-Length: 50000\r\n\r\n{\"jsonrpc\":\"2.0\"}")
    note.process.child.closeInput()
    #expect(try note.process.child.waitForExit() == .code(1))
    #expect(try note.user.storedText(of: note.id) == "kept")
  }

  @Test func headersComeInAnyOrderAndCase() throws {
    let process = try NotesUser("Ana").startInitialized()
    let body = #"{"jsonrpc":"2.0","id":77,"method":"notes/list","params":{}}"#
    process.sendRaw(
      "content-type: application/vim-jsonrpc; charset=utf-8\r\nX-Other: 1\r\nCONTENT-LENGTH:\(body.utf8.count)\r\n\r\n\(body)"
    )
    try process.waitFor("an answer") { process.messages.contains { $0["id"] == 77 } }
  }

  @Test func aFrameMayArriveByteByByte() throws {
    let process = try NotesUser("Ana").startInitialized()
    let frame = FrameSplitter.frame(Array(#"{"jsonrpc":"2.0","id":77,"method":"notes/list","params":{}}"#.utf8))
    for byte in frame {
      process.child.write([byte])
      try process.collect()
    }
    try process.waitFor("an answer") { process.messages.contains { $0["id"] == 77 } }
  }

  @Test(arguments: [
    "{", "{\"jsonrpc\":}", "nonsense", "", "\u{FEFF}{}",
    #"{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"\ud83d"}}"#,
    String(repeating: "[", count: 100_000), "{\"a\":1}}",
  ])
  func brokenJSONIsAnsweredAndTheConnectionGoesOn(body: String) throws {
    let process = try NotesUser("Ana").startInitialized()
    let start = process.messages.count
    process.sendBody(body)
    try process.waitFor("a ParseError") {
      process.messages.dropFirst(start).contains { $0["error"]?["code"] == -32700 && $0["id"] == .null }
    }
    try process.request("notes/list")
  }

  @Test func invalidUTF8IsAnsweredAndTheConnectionGoesOn() throws {
    let process = try NotesUser("Ana").startInitialized()
    process.sendBody(Array(#"{"jsonrpc":"2.0","id":1,"method":"a"#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8))
    try process.waitFor("a ParseError") { process.messages.contains { $0["error"]?["code"] == -32700 } }
    try process.request("notes/list")
  }

  @Test(arguments: ["[]", "[1]", "5", "\"text\"", "null", "{}", #"{"jsonrpc":"2.0","id":{},"method":"notes/list"}"#])
  func valuesThatAreNoMessagesDoNotEndTheProcess(body: String) throws {
    let process = try NotesUser("Ana").startInitialized()
    process.sendBody(body)
    try process.request("notes/list")
  }

  @Test func unknownMethodsAreNotFoundAndUnknownNotificationsIgnored() throws {
    let process = try NotesUser("Ana").startInitialized()
    #expect(try process.refusal("notes/fly", [:])?.code == -32601)
    process.notify("notes/fly", ["to": "the moon"])
    process.notify("$/somethingElse", nil)
    process.send(["jsonrpc": "2.0", "id": 4711, "result": "to a request that was never sent"])
    try process.request("notes/list")
  }

  @Test(arguments: [
    ("notes/create", #"{"title": 5}"#, "title"), ("notes/create", "{}", "title"), ("notes/create", "[]", "title"),
    ("notes/join", #"{"ticket": 7}"#, "ticket"), ("notes/adopt", "{}", "uri"), ("notes/adopt", #"{"uri": []}"#, "uri"),
    ("notes/share", #"{"id": "x", "access": "everything"}"#, "access"), ("notes/open", #"{"id": 5}"#, "id"),
    ("notes/list", #"{"query": 5}"#, "query"),
  ])
  func wrongParametersAreRefusedByName(method: String, params: String, field: String) throws {
    let process = try NotesUser("Ana").startInitialized()
    let refusal = try process.refusal(method, JSONValue(parsing: params))
    #expect(refusal?.code == -32602)
    #expect(refusal?.message.contains(field) == true, "\(String(describing: refusal))")
    try process.request("notes/list")
  }

  @Test(arguments: [
    "notes-lsp:garbage", "", "notes-lsp:", "http://example.org", String(repeating: "a", count: 100_000),
  ])
  func aTicketThatIsNoneIsRefused(ticket: String) throws {
    let process = try NotesUser("Ana").startInitialized()
    let refusal = try process.refusal("notes/join", ["ticket": .string(ticket)])
    #expect(refusal?.kind == "ticketInvalid", "\(String(describing: refusal))")
  }

  @Test func aNoteThatIsNotThereIsNotFound() throws {
    let process = try NotesUser("Ana").startInitialized()
    #expect(try process.refusal("notes/open", ["title": "No such note"])?.kind == "notFound")
    #expect(try process.refusal("notes/open", ["id": "no such id"]) != nil)
    #expect(try process.refusal("notes/share", ["uri": "file:///no/such/file.md"]) != nil)
    try process.request("notes/list")
  }
}

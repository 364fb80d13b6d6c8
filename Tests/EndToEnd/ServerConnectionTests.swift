import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// People whose services are connected to a server by WebSocket, and never to each other.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct ServerConnectionTests {
  private static let token = "TOKEN-of-the-tests"

  private let directory: TemporaryDirectory
  private let options: [String]

  init() throws {
    directory = try TemporaryDirectory()
    let path = directory.file("access.json")
    try """
    {"tokens": {"\(Self.token)": {"access": "write", "create": true}, "reader": {"access": "read"}, "writer": {"access": "write"}}}
    """
    .write(toFile: path, atomically: true, encoding: .utf8)
    options = ["--access", path, "--metrics", "127.0.0.1:0"]
  }
}

extension ServerConnectionTests {
  private func server(at address: String = "127.0.0.1:0") throws -> ServerProcess {
    try ServerProcess(home: try directory.directory("server"), options: options + ["--websocket", address])
  }

  private func connect(_ process: NotesProcess, to server: ServerProcess, token: String = token) throws -> JSONValue {
    try process.request("notes/connect", ["url": .string(server.websocket), "token": .string(token)])
  }

  /// Starts a person's service, and waits until it is connected.
  private func connected(_ user: NotesUser, to server: ServerProcess) throws -> NotesProcess {
    let process = try user.startInitialized()
    #expect(try connect(process, to: server)["state"] == "connected")
    return process
  }

  private func isInSync(_ client: ModelClient) throws -> Bool {
    let status = try client.process.request("notes/status", ["uri": .string(client.uri)])
    return status["peers"]?.arrayValue?.first?["inSync"] == true && status["stored"] == true
  }

  @Test func twoPeopleWriteOneNoteThroughAServer() throws {
    let server = try server()
    let (anaUser, benUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let ana = try connected(anaUser, to: server)
    let anas = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Shopping", "text": "milk\n"]))
    let published = try ana.request("notes/publish", ["uri": .string(anas.uri), "url": .string(server.websocket)])
    let url = try #require(published["url"]?.stringValue)
    #expect(url.hasPrefix("automerge:"))
    let ben = try connected(benUser, to: server)
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": .string(url)]))
    #expect(bens.text.string == "milk\n")
    bens.edit(0..<0, with: "bread\n")
    bens.flush()
    anas.edit(5..<5, with: "oats\n")
    anas.flush()
    try ModelClient.waitForConvergence([anas, bens])
    expectNoComplaints(anas, bens)
    let people = try ana.request("notes/people", ["uri": .string(anas.uri)])["people"]?.arrayValue
    #expect(people?.compactMap { $0["peer"]?.stringValue } == [server.websocket])
    #expect(try server.metrics()["notes_connections{network=\"websocket\"}"] == 2)
    #expect(try server.metrics()["notes_changes_total{direction=\"in\"}"] ?? 0 >= 3)
  }

  @Test func aPersonIsToldThatAServerDoesNotAcceptANewNote() throws {
    let server = try server()
    let ben = try NotesUser("Ben").startInitialized()
    #expect(try connect(ben, to: server, token: "writer")["state"] == "connected")
    let note = try ModelClient(ben, note: try ben.request("notes/create", ["title": "Shopping", "text": "milk\n"]))
    let published = try ben.request("notes/publish", ["uri": .string(note.uri), "url": .string(server.websocket)])
    #expect(published["message"] == "Not published: the server does not accept this note")
    let status = try ben.request("notes/status", ["uri": .string(note.uri)])["peers"]?.arrayValue?.first
    #expect(status?["state"] == "refused" && status?["reason"] == "not accepted")
  }

  /// A person names the server again to publish another note, and need not have the token at hand.
  @Test func aServerThatIsNamedAgainWithoutATokenKeepsItsOwn() throws {
    let server = try server()
    let ana = try connected(NotesUser("Ana"), to: server)
    #expect(try connect(ana, to: server, token: "")["state"] == "connected")
    #expect(try server.metrics()["notes_connections{network=\"websocket\"}"] == 1)
    let anas = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Shopping", "text": "milk\n"]))
    _ = try ana.request("notes/publish", ["uri": .string(anas.uri), "url": .string(server.websocket)])
    try ana.waitFor("the server has it") { try isInSync(anas) }
  }

  /// Neither service can call the other, and only Ana knows the server: Ben gets nothing but the ticket.
  @Test func aTicketThatNamesAServerBringsTwoPeopleTogether() throws {
    let server = try server()
    let ana = try connected(NotesUser("Ana"), to: server)
    let anas = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Shopping", "text": "milk\n"]))
    let published = try ana.request("notes/publish", ["uri": .string(anas.uri), "url": .string(server.websocket)])
    let ticket = try #require(published["ticket"]?.stringValue)
    #expect(ticket == "\(server.websocket)#automerge:\(anas.id)")

    // The service does not remember a server that has refused it.
    let ben = try NotesUser("Ben").startInitialized()
    let refusal = try ben.refusal("notes/join", ["ticket": .string(ticket)])
    #expect(refusal?.kind == "unreachable", "\(String(describing: refusal))")
    #expect(refusal?.message == "No connection to 127.0.0.1: the server wants a token.")
    #expect(try ben.request("notes/peers")["peers"] == [])

    let withToken = ticket.replacing("/#", with: "/?token=\(Self.token)#")
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": .string(withToken)]))
    #expect(bens.text.string == "milk\n")
    bens.edit(0..<0, with: "bread\n")
    bens.flush()
    anas.edit(5..<5, with: "oats\n")
    anas.flush()
    try ModelClient.waitForConvergence([anas, bens])
    expectNoComplaints(anas, bens)

    // A person who is already connected joins with the plain ticket.
    let cyd = try connected(NotesUser("Cyd"), to: server)
    let cyds = try ModelClient(cyd, note: try cyd.request("notes/join", ["ticket": .string(ticket)]))
    try ModelClient.waitForConvergence([anas, bens, cyds])
  }

  /// Otherwise a person would wait for words to be sent that the server never takes.
  @Test func aServerThatLetsThePersonOnlyReadIsSaidToDoSo() throws {
    let server = try server()
    let ana = try connected(NotesUser("Ana"), to: server)
    let anas = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Shopping", "text": "milk\n"]))
    let url = try ana.request("notes/publish", ["uri": .string(anas.uri), "url": .string(server.websocket)])["url"]
    let user = try NotesUser("Ben")
    let ben = try user.startInitialized()
    _ = try connect(ben, to: server, token: "reader")
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": url ?? .null]))
    try waitForStatus("synced with 127.0.0.1 (read-only)", of: bens)
    #expect(try people(of: bens).contains("up to date; read-only for you"))
    bens.edit(0..<0, with: "bread\n")
    bens.flush()
    try waitForStatus("refused by 127.0.0.1 (read-only)", of: bens)
    #expect(try user.run(["status", "Shopping"]).output.contains("refused  read-only for you"))
  }

  private func waitForStatus(_ words: String, of client: ModelClient) throws {
    try client.process.waitFor(words) {
      let status = try client.process.request("notes/status", ["uri": .string(client.uri)])
      return (status["company"]?.arrayValue ?? []).compactMap { $0["text"]?.stringValue }.joined() == words
    }
  }

  private func people(of client: ModelClient) throws -> String {
    let list = try client.process.request("notes/people", ["uri": .string(client.uri), "width": 80])
    return (list["lines"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: "\n")
  }

  @Test func aNoteThatGoesOnWithoutAGuestIsPublishedAsBefore() throws {
    let server = try server()
    let ana = try connected(NotesUser("Ana"), to: server)
    let place = try ana.request("notes/create", ["title": "Shopping", "text": "milk\n"])
    let (note, url) = (place["id"] ?? .null, JSONValue.string(server.websocket))
    try ana.request("notes/publish", ["id": note, "url": url])
    let ben = try NotesUser("Ben").startInitialized()
    let ticket = try ana.request("notes/share", ["id": note])["ticket"] ?? .null
    let bens = try ben.request("notes/join", ["ticket": ticket])
    #expect(bens["id"] == note)
    let peer = try ben.request("notes/peers")["self"]?["peer"] ?? .null
    let new = try ana.request("notes/remove", ["id": note, "peer": peer, "moveOn": true])["id"]
    let id = try #require(new?.stringValue)
    #expect(new != note)
    let people = try ana.request("notes/people", ["id": .string(id)])["people"]?.arrayValue
    #expect(people?.compactMap { $0["peer"] } == [url])
    let cyd = try connected(NotesUser("Cyd"), to: server)
    let cyds = try ModelClient(cyd, note: try cyd.request("notes/join", ["ticket": .string("automerge:" + id)]))
    #expect(cyds.text.string == "milk\n")
  }

  @Test func whatWasWrittenWhileTheOtherWasAwayArrivesLater() throws {
    let server = try server()
    let (anaUser, benUser) = (try NotesUser("Ana"), try NotesUser("Ben"))
    var ana = try connected(anaUser, to: server)
    let place = try ana.request("notes/create", ["title": "Shopping", "text": "milk\n"])
    let url =
      try ana.request(
        "notes/publish", ["id": place["id"] ?? .null, "url": .string(server.websocket)])["url"] ?? .null
    let anas = try ModelClient(ana, note: place)
    try ana.waitFor("the server has it") { try isInSync(anas) }
    try ana.shutdown()
    let ben = try connected(benUser, to: server)
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": url]))
    bens.edit(0..<0, with: "bread\n")
    bens.flush()
    try ben.waitFor("the server has it") { try isInSync(bens) }
    try ben.shutdown()
    // The service remembers the server, and receives the text without an open note.
    ana = try anaUser.startInitialized()
    let path = try #require(place["path"]?.stringValue)
    try ana.waitFor("the file has Ben's words") {
      (try? String(contentsOfFile: path, encoding: .utf8)) == "bread\nmilk\n"
    }
  }

  @Test func aServiceComesBackToAServerThatWasAway() throws {
    var server = try server()
    let user = try NotesUser("Ana")
    let ana = try connected(user, to: server)
    let client = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Shopping"]))
    try ana.request("notes/publish", ["uri": .string(client.uri), "url": .string(server.websocket)])
    let address = String(server.websocket.dropFirst("ws://".count).dropLast())
    server.signal(SIGKILL)
    _ = try server.child.waitForExit()
    client.edit(0..<0, with: "typed meanwhile\n")
    client.flush()
    server = try self.server(at: address)
    try ana.waitFor("the server has it") { try isInSync(client) }
    #expect(try server.end() == .code(0))
  }

  @Test func aServerIsToldOfNoNoteThatIsNotPublishedThere() throws {
    let server = try server()
    let ana = try connected(try NotesUser("Ana"), to: server)
    let secret = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Diary", "text": "secret\n"]))
    let open = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Shopping"]))
    try ana.request("notes/publish", ["uri": .string(open.uri), "url": .string(server.websocket)])
    secret.edit(0..<0, with: "more ")
    secret.flush()
    try ana.waitFor("the server has the other note") { try isInSync(open) }
    #expect(try server.metrics()["notes_documents_open"] == 1)
    // No other person can request it there.
    let ben = try connected(try NotesUser("Ben"), to: server)
    #expect(try ben.refusal("notes/join", ["ticket": .string("automerge:\(secret.id)")])?.kind == "notFound")
    try ana.request("notes/unshare", ["uri": .string(open.uri), "peer": .string(server.websocket)])
    #expect(try ana.request("notes/people", ["uri": .string(open.uri)])["people"] == [])
  }

  @Test func aWrongTokenIsRefusedAndSaid() throws {
    let server = try server()
    let ana = try NotesUser("Ana").startInitialized()
    let answer = try connect(ana, to: server, token: "wrong")
    #expect(answer["state"] == "waiting")
    #expect(answer["message"]?.stringValue?.contains("refuses the token") == true, "\(answer)")
    #expect(try server.metrics()["notes_connections{network=\"websocket\"}"] == 0)
    #expect(!server.log.contains("wrong"))
    // A valid token replaces it.
    _ = try connect(ana, to: server)
    try ana.waitFor("connected") {
      try ana.request("notes/peers")["peers"]?.arrayValue?.first?["state"] == "connected"
    }
    try ana.request("notes/disconnect", ["url": .string(server.websocket)])
    #expect(try ana.request("notes/peers")["peers"] == [])
    #expect(try ana.refusal("notes/disconnect", ["url": .string(server.websocket)])?.kind == "notFound")
  }

  @Test func aReadersWordsDoNotReachTheOthers() throws {
    let server = try server()
    let ana = try connected(try NotesUser("Ana"), to: server)
    let anas = try ModelClient(ana, note: try ana.request("notes/create", ["title": "Shopping", "text": "milk\n"]))
    let url = try ana.request("notes/publish", ["uri": .string(anas.uri), "url": .string(server.websocket)])["url"]
    try ana.waitFor("the server has it") { try isInSync(anas) }
    let ben = try NotesUser("Ben").startInitialized()
    #expect(try connect(ben, to: server, token: "reader")["state"] == "connected")
    let bens = try ModelClient(ben, note: try ben.request("notes/join", ["ticket": url ?? .null]))
    bens.edit(0..<0, with: "no ")
    bens.flush()
    anas.edit(0..<0, with: "oat ")
    anas.flush()
    try ben.waitFor("Ben has Ana's") { bens.text.string.contains("oat ") }
    try ana.waitFor("the server has Ana's") { try isInSync(anas) }
    #expect(anas.text.string == "oat milk\n")
  }

  @Test func aCommandConnectsAndPublishesForAnEditorThatRuns() throws {
    let server = try server()
    let note = try OpenNote(text: "milk\n")
    let result = try note.user.run(
      ["connect", server.websocket, "--token", Self.token, "--note", "Shopping", "--json"])
    let answer = try JSONValue(parsing: result.output)
    #expect(answer["state"] == "connected")
    #expect(answer["note"]?.stringValue == "automerge:\(note.id)")
    #expect(answer["ticket"]?.stringValue == "\(server.websocket)#automerge:\(note.id)")
    try note.process.waitFor("the server has it") { try isInSync(note.client) }
    #expect(try note.user.run(["peers"]).output.contains("connected"))
    #expect(try note.user.run(["disconnect", server.websocket]).exit == .code(0))
    #expect(try note.user.run(["disconnect", server.websocket]).exit == .code(1))
    // Without an editor, the server is only remembered.
    try note.process.shutdown()
    let later = try note.user.run(["connect", server.websocket, "--token", Self.token])
    #expect(later.output.contains("remembered, not connected yet"))
  }
}

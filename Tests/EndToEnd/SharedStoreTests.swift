import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Three servers on one PostgreSQL, and people who are connected to different ones.
@Suite(
  .ownThreads, .enabled(if: Requirements.binary && Database.isThere, "SKIPPED: needs notes-lsp and PostgreSQL's server")
)
struct SharedStoreTests {
  private let directory: TemporaryDirectory
  private let database: Database
  private let options: [String]

  init() throws {
    directory = try TemporaryDirectory()
    database = try Database()
    let path = directory.file("access.json")
    try #"{"tokens": {"token": {"access": "write", "create": true}}}"#
      .write(toFile: path, atomically: true, encoding: .utf8)
    options = ["--access", path, "--websocket", "127.0.0.1:0", "--store", database.url]
  }
}

extension SharedStoreTests {
  private func server(_ number: Int) throws -> ServerProcess {
    try ServerProcess(home: try directory.directory("server\(number)"), options: options)
  }

  private func connect(_ name: String, to server: ServerProcess) throws -> NotesProcess {
    let process = try NotesUser(name).startInitialized()
    let answer = try process.request("notes/connect", ["url": .string(server.websocket), "token": "token"])
    #expect(answer["state"] == "connected")
    return process
  }

  @Test func nothingStoredIsLostWhenAServerIsKilledAndTheDatabaseIsAway() throws {
    var servers = try (0..<3).map { try server($0) }
    let people = try ["Ana", "Ben", "Cyd"].enumerated().map { try connect($1, to: servers[$0]) }
    let place = try people[0].request("notes/create", ["title": "Shopping", "text": "start\n"])
    let url =
      try people[0].request(
        "notes/publish", ["id": place["id"] ?? .null, "url": .string(servers[0].websocket)])["url"] ?? .null
    var clients = [try ModelClient(people[0], note: place)]
    for person in people.dropFirst() {
      // The server finds the document in the database as soon as the other server has stored it.
      var note: JSONValue?
      try person.waitFor("the note") {
        note = try? person.request("notes/join", ["ticket": url])
        return note != nil
      }
      clients.append(try ModelClient(person, note: note ?? .null))
    }
    func type(_ words: String) {
      for (number, client) in clients.enumerated() {
        client.edit(0..<0, with: "\(words)\(number) ")
        client.flush()
      }
    }
    func converge(_ words: String) throws {
      try ModelClient.waitForConvergence(clients)
      for number in clients.indices { #expect(clients[0].text.string.contains("\(words)\(number)"), "\(words)") }
    }
    type("all")
    try converge("all")
    // A server dies while its person types; the person keeps typing, and connects to another one.
    type("killed")
    servers[0].signal(SIGKILL)
    _ = try servers[0].child.waitForExit()
    type("meanwhile")
    try people[0].request("notes/disconnect", ["url": .string(servers[0].websocket)])
    try people[0].request("notes/connect", ["url": .string(servers[1].websocket), "token": "token"])
    try people[0].request("notes/publish", ["id": place["id"] ?? .null, "url": .string(servers[1].websocket)])
    try converge("killed")
    try converge("meanwhile")
    // The database is stopped: people on the same server keep typing with each other, and everything is stored once it
    // runs again.
    try database.stop()
    type("away")
    try ModelClient.waitForConvergence(clients)
    try database.start()
    try converge("away")
    // Neither a server nor a person without a key claims another person's changes.
    for log in servers.map(\.log) + people.map({ String(decoding: $0.child.errorOutput, as: UTF8.self) }) {
      #expect(!log.contains("claims an actor"), "\(log)")
    }
    for server in servers.dropFirst() { #expect(try server.end() == .code(0)) }
    servers = [try server(3)]
    let dan = try connect("Dan", to: servers[0])
    let dans = try ModelClient(dan, note: try dan.request("notes/join", ["ticket": url]))
    #expect(dans.text.string == clients[0].text.string)
    expectNoComplaints(clients[0])
  }
}

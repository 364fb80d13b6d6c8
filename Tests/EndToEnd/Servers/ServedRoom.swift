import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// Three servers on one PostgreSQL, each behind a proxy that can cut its connections, and with three people.
final class ServedRoom {
  static let token = "TOKEN-of-the-tests"

  let history: History
  let database: Database
  private let directory: TemporaryDirectory
  private let access: String
  private(set) var servers: [ServerProcess] = []
  private var homes: [String] = []
  private(set) var proxies: [ChildProcess] = []
  private var urls: [String] = []
  private(set) var typists: [any Typist] = []
  private var seen: [String: Set<String>] = [:]
  private var typed: [String] = []
  private var counts: [String: Int] = [:]
  private var random: SeededGenerator

  init(seed: UInt64, history: History) throws {
    (self.history, random) = (history, SeededGenerator(seed: seed))
    directory = try TemporaryDirectory()
    database = try Database()
    access = directory.file("access.json")
    try #"{"tokens": {"\#(Self.token)": {"access": "write", "create": true}}}"#
      .write(toFile: access, atomically: true, encoding: .utf8)
    for number in 0..<3 {
      homes.append(try directory.directory("server\(number)"))
      servers.append(try server(number, at: "127.0.0.1:0"))
      try putProxy(before: servers[number])
    }
  }

  private func server(_ number: Int, at address: String) throws -> ServerProcess {
    try ServerProcess(
      home: homes[number],
      options: ["--access", access, "--websocket", address, "--store", database.url, "--metrics", "127.0.0.1:0"])
  }

  private func putProxy(before server: ServerProcess) throws {
    let port = server.websocket.split(separator: ":").last.map { $0.filter(\.isNumber) } ?? ""
    let script = NotesBinary.packageRoot + "/Tests/EndToEnd/cutting_proxy.py"
    let proxy = try ChildProcess(["python3", script, port])
    try proxy.wait(for: "the proxy", until: .now + Patience.hang) { $0.output.contains(10) }
    urls.append("ws://127.0.0.1:\(String(decoding: proxy.output, as: UTF8.self).filter(\.isNumber))/")
    proxy.output.removeAll()
    proxies.append(proxy)
  }

  // MARK: Faults

  func kill(_ number: Int) throws {
    servers[number].signal(SIGKILL)
    _ = try servers[number].child.waitForExit()
  }

  /// Starts a server again at its address.
  func restart(_ number: Int) throws {
    let address = servers[number].websocket.drop { $0 != "/" }.filter { $0 != "/" }
    servers[number] = try server(number, at: String(address))
  }

  func tellProxies(_ command: String) throws {
    for proxy in proxies {
      proxy.write(Array("\(command)\n".utf8))
      try proxy.wait(for: "the proxy to \(command)", until: .now + Patience.hang) { $0.output.contains(10) }
      proxy.output.removeAll()
    }
  }

  // MARK: People

  /// Brings nine people to one note, three of them at real editors if these are installed.
  func gather(withEditors: Bool) throws {
    let names = ["Ana", "Ben", "Cyd", "Dan", "Eva", "Fay", "Gus", "Hal", "Ivy"]
    let text = names.map { "\($0): \n" }.joined()
    var url = JSONValue.null
    for (number, name) in names.enumerated() {
      let server = number % 3
      // One real editor on each server.
      if withEditors, number >= 6 {
        typists.append(try editor(name, number - 6, at: urls[server], url.stringValue ?? ""))
        continue
      }
      let process = try NotesUser(name).startInitialized()
      try process.request("notes/connect", ["url": .string(urls[server]), "token": .string(Self.token)])
      var note = JSONValue.null
      if number == 0 {
        note = try process.request("notes/create", ["title": "Shopping", "text": .string(text)])
        url =
          try process.request("notes/publish", ["id": note["id"] ?? .null, "url": .string(urls[server])])["url"]
          ?? .null
      } else {
        try process.waitFor("the note") {
          note = (try? process.request("notes/join", ["ticket": url])) ?? .null
          return note != .null
        }
      }
      typists.append(ModelTypist(name, try ModelClient(process, note: note)))
    }
    try waitForEqual(limit: Patience.hang)
  }

  private func editor(_ name: String, _ kind: Int, at url: String, _ note: String) throws -> EditorTypist {
    let kinds: [any EditorUnderTest.Type] = [VimUnderTest.self, NeovimUnderTest.self, EmacsUnderTest.self]
    let editor = try kinds[kind].init(user: NotesUser(name), seed: UInt64(kind), maximumDelay: .zero)
    try editor.give(
      vim: "NotesConnect \(url) \(Self.token)", emacs: "(notes-connect \"\(url)\" \"\(Self.token)\")")
    try editor.waitForScreen("Connected to")
    try editor.join(note)
    _ = try editor.waitUntilAttached()
    try editor.waitForText("\(name): ")
    return try EditorTypist(name, editor)
  }

  /// All people type for this long, a random person a word at a time. Reads the buffers meanwhile.
  func type(for duration: Duration) throws {
    let end = ContinuousClock.now + duration
    var turn = 0
    while ContinuousClock.now < end {
      let typist = typists[Int.random(in: typists.indices, using: &random)]
      try look(at: typist)
      let number = (counts[typist.name] ?? 0) + 1
      counts[typist.name] = number
      let word = "\(typist.name)-\(number)"
      history.note("type", ["who": .string(typist.name), "word": .string(word)])
      seen[typist.name, default: []].insert(word)
      typed.append(word)
      try typist.type(word)
      for other in typists where other is ModelTypist { try look(at: other) }
      turn += 1
      if turn % 5 == 0 { try acknowledge(typists[(turn / 5) % typists.count]) }
      Polling.randomRest(milliseconds: Int.random(in: 20...120, using: &random))
    }
  }

  private func acknowledge(_ typist: any Typist) throws {
    if try typist.isStored() == true { history.note("acknowledge", ["who": .string(typist.name)]) }
  }

  private static var word: Regex<Substring> { /[A-Z][a-z]+-[0-9]+(?= )/ }

  /// Records the new words of a buffer, and returns its text.
  @discardableResult
  private func look(at typist: any Typist) throws -> String {
    let text = try typist.text()
    let words = Set(text.matches(of: Self.word).map { String($0.output) })
    let news = words.subtracting(seen[typist.name] ?? [])
    if !news.isEmpty {
      seen[typist.name, default: []].formUnion(news)
      history.note("see", ["who": .string(typist.name), "words": .array(news.sorted().map(JSONValue.string))])
    }
    return text
  }

  /// Waits until all buffers have one text with every word; false if that takes longer.
  @discardableResult
  func waitForEqual(limit: Duration) throws -> Bool {
    let wanted = Set(typed)
    return try Polling.comesTrue(within: limit, lookingEvery: .milliseconds(10)) {
      let texts = Set(try typists.map { try look(at: $0) })
      guard texts.count == 1, let text = texts.first else { return false }
      return wanted.isSubset(of: text.matches(of: Self.word).map { String($0.output) })
    }
  }

  /// Waits until all servers have stored everything.
  func waitUntilStored() throws {
    for server in servers {
      guard try Polling.comesTrue({ try server.metrics()["notes_stored_lag_seconds"] == 0 }) else {
        throw ProcessError.timedOut(waitingFor: "storing", details: server.log)
      }
    }
  }

  /// A last reader connects to a fresh server. The other servers are dead, although the table of processes still lists them, so only the
  /// database can answer.
  func readLast() throws -> String {
    for number in servers.indices { try kill(number) }
    homes.append(try directory.directory("server\(homes.count)"))
    let last = try server(homes.count - 1, at: "127.0.0.1:0")
    let process = try NotesUser("Zoe").startInitialized()
    try process.request("notes/connect", ["url": .string(last.websocket), "token": .string(Self.token)])
    guard let first = typists.first(where: { $0 is ModelTypist }) as? ModelTypist else { return "" }
    history.note("ask", ["who": "Zoe"])
    // A search ends after ten seconds, which may be too short on a busy machine.
    var note = JSONValue.null
    try process.waitFor("the note from the database") {
      note = (try? process.request("notes/join", ["ticket": .string("automerge:" + first.document)])) ?? .null
      return note != .null
    }
    let text = try ModelClient(process, note: note).text.string
    history.note("get", ["who": "Zoe"])
    _ = try last.end()
    return text
  }

  func noteEnds() throws {
    for typist in typists { history.note("end", ["who": .string(typist.name), "text": .string(try typist.text())]) }
  }
}

import Foundation
import TestSupport

/// One random session of three to five peers of both kinds on one document, over WebSocket.
///
/// The peers form a tree, so that each passes on what others say; each edge has a caller and a server of a kind of its own, and half
/// of the servers are encrypted, with a certificate that is its own authority. While
/// all of them type and tell each other words, connections break off after some frames. In the end nothing breaks any more: then
/// all have the same heads and the same text, and each word that is told from then on is heard by each of the others once.
struct WebSocketSession {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private struct Peer {
    let name: String
    let process: InteropProcess
    var url: String?
    /// The peers that it calls or is called by.
    var neighbours: Set<String> = []
  }

  private static let habits = [
    "versionText", "versionMissing", "metadata", "storage", "unknownKeys", "map16", "bytesIds", "remote", "text",
    "rubbish",
    "floatCounts", "deflate", "tokenInQuery", "leave",
  ]
  private static let words = ["a", "the ", "é", "\n", "e\u{301}", "漢字", "words "]

  private let seed: UInt64
  private let authority: TestAuthority
  private var random: SeededGenerator
  private var peers: [Peer] = []
  private var document = ""
  private var told = 0
  private(set) var connectionCount = 0
  private(set) var encryptedCount = 0
  private(set) var editCount = 0

  init(seed: UInt64, ours: InteropProcess, python: InteropProcess, authority: TestAuthority) throws {
    (self.seed, self.authority) = (seed, authority)
    random = SeededGenerator(seed: seed)
    var kinds =
      [ours, python]
      + (0..<Int.random(in: 1...3, using: &random)).map { _ in [ours, python].randomElement(using: &random) ?? ours }
    kinds.shuffle(using: &random)
    for (number, process) in kinds.enumerated() {
      let name = "\(process.name)-\(seed)-\(number)"
      let habits = Self.habits.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      try process.tell(
        name, "start", ["habits": habits, "seed": Int(seed) * 8 + number, "authority": authority.authorityFile])
      peers.append(Peer(name: name, process: process))
    }
  }

  mutating func run() throws {
    do {
      try connect()
      try create()
      for _ in 0..<Int.random(in: 5...25, using: &random) { try step() }
      try calm()
      try checkWords()
      for peer in peers.shuffled(using: &random) { try peer.process.tell(peer.name, "stop") }
    } catch {
      throw Failed(description: "NOTES_INTEROP_SEED=\(seed): \(error)\n\(states())")
    }
  }

  /// Each but the first calls one before it.
  private mutating func connect() throws {
    for number in peers.indices.dropFirst() {
      let server = Int.random(in: 0..<number, using: &random)
      let token = "token-\(server)"
      let url = try peers[server].url ?? listen(server, token)
      try peers[number].process.tell(
        peers[number].name, "connect", ["url": url, "token": token, "authority": authority.authorityFile])
      if url.hasPrefix("wss:") { encryptedCount += 1 }
      peers[number].neighbours.insert(peers[server].name)
      peers[server].neighbours.insert(peers[number].name)
      connectionCount += 1
    }
  }

  /// Makes a peer a server, encrypted or not, and returns its URL.
  private mutating func listen(_ number: Int, _ token: String) throws -> String {
    var fields = ["token": token]
    if Bool.random(using: &random) {
      fields.merge(["certificate": authority.certificateFile, "key": authority.keyFile]) { $1 }
    }
    let url = try peers[number].process.tell(peers[number].name, "listen", fields)["url"].string ?? ""
    peers[number].url = url
    return url
  }

  private mutating func create() throws {
    let author = Int.random(in: peers.indices, using: &random)
    document = try peers[author].process.tell(peers[author].name, "create", ["text": "words"])["document"].string ?? ""
    for (number, peer) in peers.enumerated() where number != author {
      try peer.process.tell(peer.name, "open", ["document": document])
    }
  }

  private mutating func step() throws {
    let peer = peers[Int.random(in: peers.indices, using: &random)]
    let state = try peer.process.state(of: peer.name, document)
    try checkHeard(state, by: peer)
    guard state.text != nil else { return }
    switch Int.random(in: 0..<8, using: &random) {
    case 0...4:
      let (at, delete) = (Int.random(in: 0...1000, using: &random), Int.random(in: -4...4, using: &random))
      let word = Self.words.randomElement(using: &random) ?? ""
      try peer.process.tell(
        peer.name, "splice", ["document": document, "at": at, "delete": max(0, delete), "insert": word])
      editCount += 1
    case 5...6: try tell(peer, "word-\(told)")
    default: try peer.process.tell(peer.name, "drop", ["after": Int.random(in: 0...12, using: &random)])
    }
  }

  private mutating func tell(_ peer: Peer, _ word: String) throws {
    try peer.process.tell(peer.name, "tell", ["document": document, "word": word])
    told += 1
  }

  /// Nothing breaks any more: all are connected again and come to the same heads and text.
  private func calm() throws {
    for peer in peers { try peer.process.tell(peer.name, "calm") }
    try eventually("one text") {
      let states = try peers.map { try $0.process.state(of: $0.name, document) }
      return states[0].text != nil && states.allSatisfy { $0.heads == states[0].heads && $0.text == states[0].text }
        // A word is not sent again, so it must not be told while a connection is missing.
        && zip(peers, states).allSatisfy { $0.neighbours == Set($1.peers) }
    }
  }

  /// Each hears each of the others once.
  private mutating func checkWords() throws {
    for peer in peers { try tell(peer, "last-\(peer.name)") }
    let (peers, document) = (peers, document)
    try eventually("all words") {
      try peers.allSatisfy { peer in
        let heard = try peer.process.state(of: peer.name, document).heard
        return peers.allSatisfy { $0.name == peer.name || heard["last-\($0.name)"] != nil }
      }
    }
    for peer in peers {
      let state = try peer.process.state(of: peer.name, document)
      try checkHeard(state, by: peer)
      if state.heard["last-\(peer.name)"] != nil { throw Failed(description: "\(peer.name) has heard itself") }
    }
  }

  private func checkHeard(_ state: InteropProcess.State, by peer: Peer) throws {
    if let (word, count) = state.heard.first(where: { $0.value != 1 }) {
      throw Failed(description: "\(peer.name) has heard \(word) \(count) times")
    }
  }

  private func eventually(_ what: String, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + Patience.hang
    while try !condition() {
      guard ContinuousClock.now < deadline else { throw Failed(description: "never: \(what)") }
      // Each look is an exchange with every peer; more of them would only take their time.
      poll(nil, 0, 5)
    }
  }

  private func states() -> String {
    peers.map { peer in
      let state = try? peer.process.state(of: peer.name, document)
      return "\(peer.name) (\(peer.url ?? "no server")): \(state.map { "\($0)" } ?? "silent")"
    }.joined(separator: "\n")
  }
}

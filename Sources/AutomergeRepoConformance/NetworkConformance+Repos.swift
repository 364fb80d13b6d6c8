import Automerge
import AutomergeRepo
import Foundation

/// Two repos over the two providers.
@AutomergeRepo
private struct Repos {
  let pair: NetworkPair
  let repos: [Repo]
  let limit: Duration

  init(_ pair: NetworkPair, limit: Duration) {
    (self.pair, self.limit) = (pair, limit)
    repos = [pair.first, pair.second].map { end in
      let repo = Repo(
        peerId: end.local.peerId, metadata: end.local.metadata, sharePolicy: ShareEverything(), clock: pair.clock)
      repo.add(end.provider)
      return repo
    }
  }

  /// The peer that a repo is connected to, sibling or not.
  func peer(of repo: Repo) -> PeerId? { repo.peers.keys.first ?? repo.siblings.first }

  func connect() async throws {
    try await pair.connect()
    try await pair.wait("two repos over the providers find each other", within: limit) {
      repos.allSatisfy { peer(of: $0) != nil }
    }
  }

  /// A note that the first repo shares with the second, with both handles.
  func share() async throws -> (note: Note, handles: [DocHandle]) {
    let document = Document()
    let note = Note(text: try document.putObject(obj: .ROOT, key: "text", ty: .Text))
    let handle = try repos[0].create(document)
    try await pair.wait("the second repo gets the document of the first", within: limit) {
      repos[1].handle(of: handle.id) != nil
    }
    guard let other = repos[1].handle(of: handle.id) else { throw BrokenRule(description: "the document is gone") }
    try await pair.wait("each repo knows that the other has the document", within: limit) {
      !handle.peers.isEmpty && !other.peers.isEmpty
    }
    return (note, [handle, other])
  }

  func converge(_ handles: [DocHandle], _ rule: String) async throws {
    try await pair.wait(rule, within: limit) { handles[0].document.heads() == handles[1].document.heads() }
  }
}

/// A document with one text.
private struct Note {
  let text: ObjId

  @AutomergeRepo
  func add(_ words: String, to handle: DocHandle) throws {
    try handle.change { document in
      try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: words)
    }
  }

  @AutomergeRepo
  func content(of handle: DocHandle) throws -> String { try handle.document.text(obj: text) }
}

extension NetworkConformance {
  func sync(_ pair: NetworkPair) async throws {
    let repos = Repos(pair, limit: limit)
    try await repos.connect()
    let (note, handles) = try await repos.share()
    for number in 0..<20 {
      for (handle, name) in zip(handles, ["a", "b"]) { try note.add("\(name)\(number) ", to: handle) }
    }
    try await repos.converge(handles, "two repos that edit one document at the same time end with equal documents")
    let contents = try handles.map { try note.content(of: $0) }
    try expect(contents[0] == contents[1], "two repos end with the same text")
    for word in (0..<20).flatMap({ ["a\($0) ", "b\($0) "] }) {
      try expect(contents[0].contains(word), "the text has every edit of both repos")
    }
  }

  func ephemeralMessages(_ pair: NetworkPair) async throws {
    let repos = Repos(pair, limit: limit)
    try await repos.connect()
    let handles = try await repos.share().handles
    var heard: [[Data]] = [[], []]
    for index in 0...1 {
      handles[index].observe { event in
        if case .ephemeral(let message, _) = event { heard[index].append(message.data) }
      }
    }
    let words = (0..<3).map { Data(CBOR.text("caret \($0)").encoded()) }
    for word in words { for handle in handles { handle.broadcast(word) } }
    try await pair.wait("ephemeral messages arrive", within: limit) { heard.allSatisfy { $0.count >= words.count } }
    try expect(heard == [words, words], "ephemeral messages arrive once, in the order of sending")
  }

  func syncAfterReconnecting(_ pair: NetworkPair) async throws {
    let repos = Repos(pair, limit: limit)
    try await repos.connect()
    let (note, handles) = try await repos.share()
    for round in 0..<2 {
      if let peer = repos.peer(of: repos.repos[round]) { repos.repos[round].disconnect(peer) }
      for (handle, name) in zip(handles, ["a", "b"]) { try note.add("\(name)\(round) ", to: handle) }
      try await pair.wait("after disconnect, a repo has no connected peer", within: limit) {
        handles.allSatisfy { $0.peers.isEmpty } || handles[0].document.heads() == handles[1].document.heads()
      }
      try await repos.connect()
      try await repos.converge(handles, "two repos that were apart end with equal documents")
    }
    let content = try note.content(of: handles[0])
    for word in ["a0 ", "b0 ", "a1 ", "b1 "] {
      try expect(content.contains(word), "the text has what both repos wrote while they were apart")
    }
  }
}

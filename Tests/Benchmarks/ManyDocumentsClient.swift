import Automerge
import AutomergeRepo
import Foundation
import PeerTransport
import UV
import WebSocketNetwork

/// One connection to a server, on many documents, of which it exchanges some at a time.
@AutomergeRepo
final class ManyDocumentsClient: NetworkDelegate {
  private struct Copy {
    let document: Document
    let text: ObjId
    var state = SyncState()
    /// Whether the server has told what the document has.
    var isDone = false
  }

  /// So many documents are exchanged at a time.
  private static let atOnce = 200
  private static let patience: Duration = .seconds(600)

  private let local: PeerId
  private let sockets: WebSocketProvider
  private let clock: LoopClock
  private var server: PeerId?
  private var copies: [DocumentId: Copy]
  /// What was not begun yet, and how many are under way.
  private var waiting: [DocumentId] = []
  private var underWay = 0

  /// New documents of some lines each, which the server has when this returns.
  static func start(
    _ name: String, documents: Int, at url: WebSocketURL, token: String, loop: Loop
  ) async throws -> ManyDocumentsClient {
    while !loop.isOnLoop { await Task.yield() }
    var random = RandomSource()
    var copies: [DocumentId: Copy] = [:]
    for number in 0..<documents {
      let document = Document()
      let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
      let words = String(repeating: "A line of note \(number), as people write it.\n", count: 8)
      try document.spliceText(obj: text, start: 0, delete: 0, value: words)
      document.commitWith(message: nil, timestamp: Date())
      copies[DocumentId.random(using: &random)] = Copy(document: document, text: text)
    }
    let client = ManyDocumentsClient(name, copies, at: url, token: token, loop: loop)
    try await client.exchange()
    return client
  }

  /// The same documents at another peer, which has exchanged nothing yet.
  static func start(
    _ name: String, copying other: ManyDocumentsClient, at url: WebSocketURL, token: String, loop: Loop
  ) -> ManyDocumentsClient {
    let copies = other.copies.mapValues { Copy(document: $0.document.fork(), text: $0.text) }
    return ManyDocumentsClient(name, copies, at: url, token: token, loop: loop)
  }

  private init(_ name: String, _ copies: [DocumentId: Copy], at url: WebSocketURL, token: String, loop: Loop) {
    (local, self.copies, clock) = (PeerId(name), copies, LoopClock(loop))
    sockets = WebSocketProvider(loop: loop, clock: clock)
    sockets.start(as: LocalPeer(peerId: local), delegate: self)
    sockets.connect(to: url, token: token)
  }

  /// Returns when the server has told of each document what is here.
  func exchange() async throws {
    for id in copies.keys { copies[id]?.isDone = false }
    waiting = Array(copies.keys)
    underWay = 0
    go()
    let end = clock.now + Self.patience
    while !waiting.isEmpty || underWay > 0 {
      guard clock.now < end else { throw LoadError.timedOut("documents", connected: copies.count - waiting.count) }
      _ = await clock.pause(for: .milliseconds(20))
    }
  }

  /// Changes every document and tells the server, which does not take it, and has nothing to say about it.
  func changeAll() async throws {
    for (number, id) in copies.keys.enumerated() {
      guard let copy = copies[id] else { continue }
      try copy.document.spliceText(obj: copy.text, start: 0, delete: 0, value: "x")
      copy.document.commitWith(message: nil, timestamp: Date())
      speak(id)
      if number % Self.atOnce == 0 { _ = await clock.pause(for: .milliseconds(20)) }
    }
  }

  func stop() { sockets.stop() }

  private func go() {
    while server != nil, underWay < Self.atOnce, let id = waiting.popLast() {
      underWay += 1
      speak(id)
    }
  }

  private func speak(_ id: DocumentId) {
    guard let server, let copy = copies[id], let data = copy.document.generateSyncMessage(state: copy.state) else {
      return
    }
    sockets.send(.document(.init(senderId: local, targetId: server, documentId: id, content: .sync(data))), to: server)
  }

  // MARK: NetworkDelegate

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    server = peer
    for id in copies.keys { copies[id]?.state = SyncState() }
    go()
  }

  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) { server = nil }

  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    guard case .document(let message) = message, let data = message.content.data, let copy = copies[message.documentId]
    else { return }
    let heads = SyncHeader(data)?.heads
    try? copy.document.receiveSyncMessage(state: copy.state, message: data)
    if !copy.isDone, heads.map(Set.init) == copy.document.heads() {
      copies[message.documentId]?.isDone = true
      underWay -= 1
    }
    speak(message.documentId)
    go()
  }
}

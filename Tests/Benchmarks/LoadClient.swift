import Automerge
import AutomergeRepo
import Foundation
import PeerTransport
import UV
import WebSocketNetwork

/// One connection to a server, on one document.
@AutomergeRepo
final class LoadClient: NetworkDelegate {
  private let number: Int
  private let room: LoadRoom
  private let sockets: WebSocketProvider
  private let clock: LoopClock
  private let local: PeerId
  private var server: PeerId?
  private var state = SyncState()
  /// How many keystrokes the server has told of.
  private var heardCount: Int?
  var milliseconds: [Double] = []

  init(_ number: Int, in room: LoadRoom, at url: WebSocketURL, token: String, loop: Loop, clock: LoopClock) {
    (self.number, self.room, self.clock) = (number, room, clock)
    sockets = WebSocketProvider(loop: loop, clock: clock)
    local = PeerId("load-\(number)")
    sockets.start(as: LocalPeer(peerId: local), delegate: self)
    sockets.connect(to: url, token: token)
  }

  /// Whether the server has told exactly what the document has.
  var isInSync: Bool { heardCount == room.count }

  func type(at now: Duration) throws {
    try room.type(by: number, at: now)
    speak()
  }

  func stop() { sockets.stop() }

  private func speak() {
    guard let server, let data = room.document.generateSyncMessage(state: state) else { return }
    sockets.send(
      .document(.init(senderId: local, targetId: server, documentId: room.id, content: .sync(data))), to: server)
  }

  // MARK: NetworkDelegate

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    (server, state) = (peer, SyncState())
    speak()
  }

  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) { server = nil }

  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    guard case .document(let message) = message, let data = message.content.data else { return }
    let before = heardCount ?? 0
    if let count = SyncHeader(data).flatMap({ room.count(of: $0.heads) }) {
      if count > before { milliseconds += room.milliseconds(of: before..<count, for: number, at: clock.now) }
      heardCount = max(before, count)
    }
    // A message that cannot be read never brings all into sync.
    try? room.document.receiveSyncMessage(state: state, message: data)
    speak()
  }
}

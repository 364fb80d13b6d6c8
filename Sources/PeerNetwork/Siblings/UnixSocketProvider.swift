import AutomergeRepo
import Foundation
import Logging
import PeerTransport
import UV

/// The other processes of this user on the same store, over a unix socket: a star whose hub is elected by a lock.
///
/// All of them are one person and have one peer id, so each uses that id with `/` and a number of its own; messages are
/// translated between it and the id that the repo knows. When the hub dies, another process becomes the hub.
public final class UnixSocketProvider: NetworkProvider {
  /// Larger than the number of processes that any person has.
  static let maximumConnections = 64

  public nonisolated let isSiblings = true
  /// Called when this process becomes the hub.
  public var onHub: (@AutomergeRepo () -> Void)?

  private let loop: Loop
  private let clock: any RepoClock
  private let socket: SiblingSocket
  private let election: HubElection
  private let logger: Logger
  private let token: String
  private weak var delegate: (any NetworkDelegate)?
  /// Nil until started and after stopping.
  private var repoPeer: LocalPeer?
  private var listener: UnixListener?
  private var links: [ObjectIdentifier: PeerLink] = [:]
  private var linkOfPeer: [PeerId: PeerLink] = [:]

  /// - Parameter home: the store's directory.
  public init(
    home: String, loop: Loop, clock: any RepoClock, random: RandomSource = RandomSource(),
    logger: Logger = Logger(label: "siblings")
  ) throws(UVError) {
    socket = try SiblingSocket(home: home)
    (self.loop, self.clock, self.logger) = (loop, clock, logger)
    election = HubElection(socket, clock: clock)
    var random = random
    token = String(random.next(), radix: 16)
  }

  public var isHub: Bool { election.isHub }

  /// The processes that are connected: all of them for the hub; for any other, the hub.
  public var siblings: [PeerId] { linkOfPeer.keys.sorted() }

  // MARK: Provider

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (repoPeer, self.delegate) = (local, delegate)
    election.start { [weak self] task in
      switch task {
      case .call: self?.call()
      case .listen: self?.listen()
      }
    }
  }

  public func stop() {
    guard let local else { return }
    repoPeer = nil
    listener?.close()
    listener = nil
    for link in links.values {
      if link.peer != nil { link.send(.leave(senderId: local.peerId)) }
      link.close(.stopped)
    }
    election.stop()
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    guard let repoPeer, let local, let link = linkOfPeer[peer] else { return }
    if !link.send(message.exchanging(repoPeer.peerId, for: local.peerId)) {
      logger.error("\(peer) \(Frame.tooLongToSend)")
    }
  }

  public func disconnect(_ peer: PeerId) { linkOfPeer[peer]?.close(.stopped) }

  public func proof(of peer: PeerId) -> PeerProof? { linkOfPeer[peer]?.proof }

  /// How we introduce ourselves to siblings.
  private var local: LocalPeer? {
    repoPeer.map { LocalPeer(peerId: PeerId("\($0.peerId)/\(token)"), metadata: $0.metadata) }
  }

  // MARK: The hub

  private func listen() {
    // The file was left by a hub that has died: the lock shows that no process listens there.
    unlink(socket.path)
    do {
      listener = try UnixListener(on: loop, path: socket.path) { [weak self] stream in
        nonisolated(unsafe) let stream = stream
        AutomergeRepo.assumeIsolated {
          if let self { self.accept(stream) } else { stream.close() }
        }
      }
      chmod(socket.path, 0o600)
    } catch {
      logger.error("Other processes of yours cannot reach this one at \(socket.path): \(error.message)")
    }
    onHub?()
  }

  private func accept(_ stream: PipeStream) {
    guard links.count < Self.maximumConnections, let transport = UnixSocketTransport(stream) else {
      return stream.close()
    }
    add(transport, .listener)
  }

  private func call() {
    PipeStream.connect(on: loop, path: socket.path) { [weak self] result in
      nonisolated(unsafe) let result = result
      AutomergeRepo.assumeIsolated {
        guard case .success(let stream) = result else {
          self?.election.tell(.failed)
          return
        }
        guard let self, self.repoPeer != nil, let transport = UnixSocketTransport(stream) else {
          stream.close()
          self?.election.tell(.failed)
          return
        }
        self.add(transport, .dialer(expecting: nil))
      }
    }
  }

  // MARK: Links

  private func add(_ transport: UnixSocketTransport, _ role: PeerHandshake.Role) {
    guard let local else { return transport.close() }
    let link = PeerLink(transport, as: role, local: local, clock: clock) { [weak self] link, event in
      self?.handle(event, of: link)
    }
    links[ObjectIdentifier(link)] = link
    link.open()
  }

  private func handle(_ event: PeerLink.Event, of link: PeerLink) {
    switch event {
    case .established(let peer, let metadata): established(link, peer, metadata)
    case .received(let message):
      guard let peer = link.peer, linkOfPeer[peer] === link, let repoPeer, let local else { return }
      delegate?.network(self, received: message.exchanging(local.peerId, for: repoPeer.peerId), from: peer)
    // A sibling gets every message, however slowly it reads.
    case .proven, .crowded, .stalled: break
    case .closed: closed(link)
    }
  }

  private func established(_ link: PeerLink, _ peer: PeerId, _ metadata: PeerMetadata) {
    // A process of another store, or a second connection of the same process.
    guard let repoPeer, linkOfPeer[peer] == nil, peer.description.hasPrefix(repoPeer.peerId.description + "/") else {
      return link.close(.stopped)
    }
    linkOfPeer[peer] = link
    link.isTrusted = true
    election.tell(.reached)
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  private func closed(_ link: PeerLink) {
    links[ObjectIdentifier(link)] = nil
    if let peer = link.peer, linkOfPeer[peer] === link {
      linkOfPeer[peer] = nil
      delegate?.network(self, disconnected: peer)
    }
    if links.isEmpty { election.tell(.lost) }
  }
}

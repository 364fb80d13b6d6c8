import AutomergeRepo
import Foundation

/// Connects two repos by two pipes: what one repo writes, the other reads.
final class PipeProvider: NetworkProvider {
  /// The longest message. A peer that announces a longer one is disconnected.
  nonisolated static let maximumByteCount = 16 << 20
  /// A peer is crowded while more unsent bytes than this wait for it.
  private static let crowdedByteCount = 1 << 20

  /// Nil until started and after stopping.
  private var local: LocalPeer?
  private weak var delegate: (any NetworkDelegate)?
  private var connection: Connection?

  nonisolated init() {
    // Writing to a pipe without a reader must fail, and not end the program.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Two pipes, from `connect` to their end.
  @AutomergeRepo
  private final class Connection {
    let input: FileHandle
    let output: FileHandle
    let reading = DispatchQueue(label: "reading from a pipe")
    let writing = DispatchQueue(label: "writing to a pipe")
    /// The peer at the other end, once it has introduced itself.
    var peer: PeerId?
    /// Whether the repo wants the peer's messages, and whether one is being read.
    var isOpenForReading = true
    var isReading = false
    var unsentByteCount = 0
    var isCrowded = false

    init(reading input: FileHandle, writing output: FileHandle) { (self.input, self.output) = (input, output) }
  }

  func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (self.local, self.delegate) = (local, delegate)
  }

  func stop() {
    if let connection { end(connection) }
    local = nil
  }

  func disconnect(_ peer: PeerId) {
    if let connection, connection.peer == peer { end(connection) }
  }

  /// Begins to talk over two pipes, which the provider closes at the end.
  func connect(reading input: FileHandle, writing output: FileHandle) {
    guard let local else { return }
    if let connection { end(connection) }
    let connection = Connection(reading: input, writing: output)
    self.connection = connection
    write(.join(senderId: local.peerId, metadata: local.metadata, versions: ["1"]), to: connection)
    readNext(from: connection)
  }

  private func end(_ connection: Connection) {
    guard connection === self.connection else { return }
    self.connection = nil
    // The other end reads to the end of what was sent, and then closes its pipe, which ends our reading.
    connection.writing.async { [output = connection.output] in try? output.close() }
    connection.reading.async { [input = connection.input] in try? input.close() }
    if let peer = connection.peer { delegate?.network(self, disconnected: peer) }
  }

  func send(_ message: RepoMessage, to peer: PeerId) {
    guard let connection, connection.peer == peer else { return }
    write(message, to: connection)
  }

  private func write(_ message: RepoMessage, to connection: Connection) {
    let body = message.encoded()
    guard body.count <= Self.maximumByteCount else { return }
    let length = UInt32(body.count)
    let frame = Data((0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + body)
    connection.unsentByteCount += frame.count
    connection.writing.async { [output = connection.output] in
      let isSent = (try? output.write(contentsOf: frame)) != nil
      Task { @AutomergeRepo in self.wrote(frame.count, isSent, connection) }
    }
    // Later, as the delegate is not to be called while it sends.
    Task { self.reportCrowding(connection) }
  }

  private func wrote(_ byteCount: Int, _ isSent: Bool, _ connection: Connection) {
    connection.unsentByteCount -= byteCount
    if isSent { reportCrowding(connection) } else { end(connection) }
  }

  private func reportCrowding(_ connection: Connection) {
    guard connection === self.connection, let peer = connection.peer else { return }
    let isCrowded = connection.unsentByteCount > (connection.isCrowded ? 0 : Self.crowdedByteCount)
    guard isCrowded != connection.isCrowded else { return }
    connection.isCrowded = isCrowded
    delegate?.network(self, peer, isCrowded: isCrowded)
  }

  func setReading(_ reads: Bool, from peer: PeerId) {
    guard let connection, connection.peer == peer else { return }
    connection.isOpenForReading = reads
    readNext(from: connection)
  }

  /// Reads one message on another thread, as reading waits for it. One at a time, so they stay in order.
  private func readNext(from connection: Connection) {
    guard connection === self.connection, connection.isOpenForReading, !connection.isReading else { return }
    connection.isReading = true
    connection.reading.async { [input = connection.input] in
      let body = Self.readFrame(from: input)
      Task { @AutomergeRepo in
        connection.isReading = false
        self.received(body, on: connection)
      }
    }
  }

  /// The next message's bytes; nil if the pipe has ended, or what it carries is not ours.
  private nonisolated static func readFrame(from input: FileHandle) -> Data? {
    guard let length = read(4, from: input)?.reduce(0, { $0 << 8 | Int($1) }), length <= maximumByteCount else {
      return nil
    }
    return read(length, from: input)
  }

  private nonisolated static func read(_ count: Int, from input: FileHandle) -> Data? {
    var bytes = Data()
    while bytes.count < count {
      guard let more = try? input.read(upToCount: count - bytes.count), !more.isEmpty else { return nil }
      bytes += more
    }
    return bytes
  }

  private func received(_ body: Data?, on connection: Connection) {
    guard connection === self.connection, let local else { return }
    guard let body, let message = try? RepoMessage(body) else { return end(connection) }
    switch (connection.peer, message) {
    case (nil, .join(let peer, let metadata, let versions)):
      guard versions.contains("1"), peer != local.peerId else { return end(connection) }
      connection.peer = peer
      delegate?.network(self, connected: peer, metadata: metadata)
    case (nil, _):
      return end(connection)
    case (let peer?, _):
      if message.isAddressed(from: peer, to: local.peerId) { delegate?.network(self, received: message, from: peer) }
    }
    readNext(from: connection)
  }
}

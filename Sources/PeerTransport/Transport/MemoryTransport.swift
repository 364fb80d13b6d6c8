import AutomergeRepo

/// One end of a connection within this process. Bytes arrive in a turn of the clock after the one in which they are sent.
@AutomergeRepo
package final class MemoryTransport: FramedTransport {
  package var frames = FrameDecoder()
  /// This end's delivery. A test sets it at both ends, for a network that loses bytes.
  package var delivery: Delivery?
  package var isWithinMachine = false
  package private(set) var isOpen = true
  /// The other end's proof; nil if there is none, as of an end that never completes a TLS handshake.
  private let proof: PeerProof?
  private let capacity: Int
  private let clock: any RepoClock
  private var report: (@AutomergeRepo (TransportEvent) -> Void)?
  /// Nil once either end is closed.
  private var other: MemoryTransport?
  private var unsent: [UInt8] = []
  /// Bytes that arrived and were not read, which the kernel would hold for a socket.
  private var arrived: [UInt8] = []
  private var isReading = false
  private var hasOtherEnded = false

  /// Two ends that are connected to each other.
  ///
  /// - Parameters:
  ///   - proofs: the second end's proof to the first, and the first end's to the second
  ///   - capacity: how many bytes an end may send before the other one reads
  package static func pair(
    clock: any RepoClock, proofs: (PeerProof?, PeerProof?), capacity: Int = 1 << 20
  ) -> (MemoryTransport, MemoryTransport) {
    let ends = (
      MemoryTransport(clock, proofs.0, capacity), MemoryTransport(clock, proofs.1, capacity)
    )
    (ends.0.other, ends.1.other) = (ends.1, ends.0)
    return ends
  }

  private init(_ clock: any RepoClock, _ proof: PeerProof?, _ capacity: Int) {
    (self.clock, self.proof, self.capacity) = (clock, proof, capacity)
  }

  package func open(_ report: @escaping @AutomergeRepo (TransportEvent) -> Void) {
    self.report = report
    if let proof { report(.proven(proof)) }
    resumeReading()
  }

  package var unsentByteCount: Int { unsent.count }

  package func write(_ bytes: [UInt8]) throws(LinkError) {
    guard isOpen else { throw .lost(reason: "the connection was closed") }
    unsent += bytes
    sendWhatFits()
  }

  package func resumeReading() {
    isReading = true
    later { $0.read() }
  }

  package func pauseReading() { isReading = false }

  package func finish() {
    other?.arrived += unsent
    unsent = []
    close()
  }

  package func close() {
    guard isOpen else { return }
    (isOpen, unsent, arrived) = (false, [], [])
    let closed = report
    report = nil
    _ = clock.schedule(after: .zero) { closed?(.closed(nil)) }
    other?.hasOtherEnded = true
    other?.later { $0.read() }
    other = nil
  }

  private func sendWhatFits() {
    guard let other, other.isOpen, !unsent.isEmpty else { return }
    let room = capacity - other.arrived.count
    guard room > 0 else { return }
    other.arrived += unsent.prefix(room)
    unsent = Array(unsent.dropFirst(room))
    other.later { $0.read() }
  }

  private func read() {
    guard isOpen, isReading else { return }
    if !arrived.isEmpty {
      let bytes = arrived
      arrived = []
      frames.append(bytes)
      report?(.received)
    }
    other?.roomWasMade()
    // As with a socket, an end that does not read notices the other end's closing when it reads again.
    if hasOtherEnded, isReading { close() }
  }

  private func roomWasMade() {
    guard isOpen, !unsent.isEmpty else { return }
    sendWhatFits()
    if unsent.isEmpty { report?(.drained) }
  }

  private func later(_ body: @escaping @AutomergeRepo (MemoryTransport) -> Void) {
    _ = clock.schedule(after: .zero) { body(self) }
  }
}

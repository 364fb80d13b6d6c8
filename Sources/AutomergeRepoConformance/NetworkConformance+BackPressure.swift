import AutomergeRepo
import Foundation

/// A receiver that does not read, and its sender.
extension NetworkConformance {
  private static let pieceByteCount = 64 << 10
  /// When this much is unsent, a sender must have noticed that its peer does not read.
  private static let crowdingByteCount = 48 << 20
  /// A receiver that is told not to read may still deliver what it has read, and no more than this.
  private static let lateByteCount = 1 << 20

  func backPressure(_ stations: Stations) async throws {
    guard stations.pair.hasBackPressure else { return }
    let (sender, receiver) = (stations.recorders[0], stations.recorders[1])
    stations.second.setReading(false, from: stations.peer(of: 1))
    var expected: [RepoMessage] = []
    while !sender.isCrowded {
      try expect(
        expected.count < Self.crowdingByteCount / Self.pieceByteCount,
        "a peer that does not read is reported as crowded")
      var piece = Data(count: Self.pieceByteCount)
      withUnsafeBytes(of: UInt32(expected.count)) { piece.replaceSubrange(0..<4, with: $0) }
      let message = stations.message(piece, from: 0)
      stations.send(message.sent, from: 0)
      expected.append(message.received)
      await stations.pair.passTime()
    }
    try expect(
      receiver.messages.count <= Self.lateByteCount / Self.pieceByteCount,
      "setReading(false) stops the messages of the peer")
    stations.second.setReading(true, from: stations.peer(of: 1))
    try await stations.wait("setReading(true) lets all messages arrive") { receiver.messages.count >= expected.count }
    try expect(receiver.messages == expected, "messages that had to wait arrive once, in the order of sending")
    try await stations.wait("a peer that reads again is reported as not crowded") { !sender.isCrowded }
  }
}

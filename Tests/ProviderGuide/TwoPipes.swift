import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import TestSupport

/// The guide's network provider before the conformance suite.
@AutomergeRepo
enum TwoPipes {
  static func conform() async throws {
    // guide
    let suite = NetworkConformance(within: Patience.hang) {
      let (first, second) = (PipeProvider(), PipeProvider())
      let wire = Wire()
      var pair = NetworkPair(
        .init(first, as: LocalPeer(peerId: PeerId("ana"), metadata: PeerMetadata(name: "Ana"))),
        .init(second, as: LocalPeer(peerId: PeerId("ben"), metadata: PeerMetadata(name: "Ben"))),
        maximumByteCount: PipeProvider.maximumByteCount, hasBackPressure: true
      ) {
        let (there, back) = (Pipe(), Pipe())
        wire.toSecond = there.fileHandleForWriting
        first.connect(reading: back.fileHandleForReading, writing: there.fileHandleForWriting)
        second.connect(reading: there.fileHandleForReading, writing: back.fileHandleForWriting)
      }
      pair.inject = { bytes in try wire.toSecond?.write(contentsOf: Data(bytes)) }
      return pair
    }
    try await suite.run()
    // end
  }

  /// The pipe on which the first repo writes to the second.
  @AutomergeRepo
  private final class Wire {
    var toSecond: FileHandle?
  }
}

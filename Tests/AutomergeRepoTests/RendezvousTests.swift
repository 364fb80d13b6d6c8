import Testing

@testable import AutomergeRepo

/// Peers of other versions, on other machines, must come to the same ranks.
struct RendezvousTests {
  /// The first eight bytes of the SHA-256 of both ids, as a number.
  @Test(
    arguments: [
      ("ana", 0xDC0B_72B1_855B_8501), ("ben", 0x2DA6_1F5D_C75B_290C), ("\u{65E5}\u{672C}", 0xF18F_1BC6_6D99_DDEC),
    ] as [(String, UInt64)])
  func theRankOfAPeerIsTheSameEverywhere(peer: String, rank: UInt64) throws {
    let document = try #require(DocumentId(bytes: Array(1...16)))
    #expect(Rendezvous.rank(of: PeerId(peer), on: document) == rank)
  }
}

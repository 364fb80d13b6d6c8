import Foundation

@testable import AutomergeRepo
@testable import NotesServer

/// Ephemeral messages of hostile links with any counts, sessions and authors, and one honest link among them.
public enum PresenceShapes {
  private static let counts: [UInt64] = [0, 1, 2, 1 << 14, 1 << 14 + 1, .max - 1, .max, 1 << 63]

  public static func check(_ input: [UInt8]) throws {
    var (gate, script) = (EphemeralGate(), Script(input))
    guard let document = DocumentId(bytes: [UInt8](repeating: 1, count: 16)) else { return }
    var (now, honestCount) = (Duration.zero, UInt64(script.next()))
    func message(_ author: String, _ session: String, _ count: UInt64, _ byteCount: Int = 1)
      -> RepoMessage.EphemeralMessage
    {
      .init(
        senderId: PeerId(author), targetId: PeerId("us"), documentId: document, count: count, sessionId: session,
        data: Data(count: byteCount))
    }
    while !script.isOver {
      now += .milliseconds(4)
      let link = script.next() & 3
      for _ in 0...script.below(4) {
        // A linked peer speaks only for itself: no other link can bring words of the honest one.
        let author = ["eve", "mallory", String(repeating: "e", count: 300), ""][script.below(4)]
        let base = counts[script.below(counts.count)]
        let count = script.bit() ? base &+ UInt64(script.next()) : base &- UInt64(script.next())
        _ = gate.accepts(
          message(author, "\(script.below(200))", count, script.below(50) == 0 ? 1 << 17 : 1),
          via: PeerId("link \(link)"), at: now)
      }
      if script.below(16) == 0 { gate.forget(PeerId("link \(script.below(4))")) }
      honestCount += 1 + UInt64(script.below(3))
      try Broken.unless(
        gate.accepts(message("ana", "s", honestCount), via: PeerId("ana"), at: now), "the honest one is not heard")
    }
    try Broken.unless(gate.streamCount <= 4 * EphemeralGate.maximumStreams + 1, "\(gate.streamCount) streams")
  }
}

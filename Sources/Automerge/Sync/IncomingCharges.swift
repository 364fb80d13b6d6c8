/// What a message costs beyond its bytes, for which its sender has a budget. Source of all limits: PeerProtocol.md,
/// "Expensive changes".
struct IncomingCharges {
  /// The chargeable bytes since the last call of `take`.
  private var byteCount = 0
  /// What looking for authors was charged for, so that the portions need not be.
  private var prepaidByteCount = 0
  /// How many operations other than typing and deleting, and predecessors, there were beyond one for each byte.
  private(set) var denseOpCount = 0

  /// Data that inflate to at most so many times their size are free.
  private static let freeRatio = 8
  /// A change is applied as a whole; text in it beyond this size is charged like inflated data.
  private static let textOfChange = 4 << 20
  /// What each operation other than typing and deleting is charged beyond one for each byte. A run-length encoded table can claim
  /// a thousand of them in one byte.
  private static let denseOpByteCount = 64

  /// Charges what was inflated, whether it was any good or not, to the sender, and to what the message may inflate to.
  mutating func addInflated(to budget: inout Int, leaving left: Int, stored: Int) {
    let excess = max(0, budget - left - Self.freeRatio * stored)
    let prepaid = min(excess, prepaidByteCount)
    prepaidByteCount -= prepaid
    byteCount += excess - prepaid
    budget = left
  }

  /// Charges the operations that a chunk has beyond its bytes.
  mutating func addOps(_ count: Int, in chunk: Chunk) {
    let dense = max(0, count - chunk.body.count)
    denseOpCount += dense
    byteCount += Self.denseOpByteCount * dense
  }

  /// Charges the text of a large change, and what its repeated strings stand for.
  mutating func addText(of change: DecodedChange, in chunk: Chunk) {
    byteCount += max(0, change.text.count - Self.textOfChange)
    byteCount += max(0, change.repeatedByteCount - Self.freeRatio * chunk.body.count)
  }

  /// Lets as much as has been charged be inflated once more.
  mutating func prepay() { prepaidByteCount = byteCount }

  /// Returns the chargeable bytes since the last call.
  mutating func take() -> Int {
    defer { byteCount = 0 }
    return byteCount
  }
}

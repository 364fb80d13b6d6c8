import AutomergeRepo
import NotesHarness

/// Decides which faults happen in a run, and knows what they excuse.
@AutomergeRepo
final class FaultInjector {
  /// One person's machine, and the one that it sends to.
  struct Way: Hashable {
    var (sender, receiver): (PeerId, PeerId)
  }

  /// In one of so many steps something goes wrong.
  private static let stepsPerFault = 12

  let kinds: [Fault]
  var lostWays: Set<Way> = []
  var heldWays: [Way: Duration] = [:]
  /// Words that may or may not be in the final text: undone, or lost in a power failure before they were stored.
  private(set) var uncertain: Set<String> = []
  /// Words of which a person was told that they are stored, and deleted words of which this person was told the same.
  private var (stored, storedDeletions): (Set<String>, Set<String>) = ([], [])
  /// Which person has deleted a word.
  var deleters: [String: String] = [:]
  /// On which person's machine another program wrote a word.
  var machines: [String: String] = [:]
  var stranger: Stranger?
  private var random: RandomSource

  nonisolated init(_ kinds: Set<Fault>, seed: UInt64) {
    self.kinds = Fault.allCases.filter(kinds.contains)
    random = RandomSource(SplitMix64(seed: ~seed))
  }

  func below(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &random) }

  /// Up to three seconds, rarely in step with anything else.
  func duration() -> Duration { .nanoseconds(50_000_000 + Int64(below(2_950_000_000))) }

  /// What goes wrong in this step, if anything.
  func draw() -> Fault? {
    guard !kinds.isEmpty, below(Self.stepsPerFault) == 0 else { return nil }
    return kinds[below(kinds.count)]
  }

  func drawBytes(_ count: Int) -> [UInt8] { random.bytes(count) }

  // MARK: What a fault excuses

  /// The person was told that everything in a text is stored.
  func isStored(_ text: String, for person: String, authors: [String: String], deleted: Set<String>) {
    let words = Set(text.split(separator: "\n").map(String.init))
    stored.formUnion(words.filter { authors[$0] == person })
    storedDeletions.formUnion(deleted.filter { deleters[$0] == person && !words.contains($0) })
  }

  /// Whether what a person has written, or deleted, must outlive the power of the person's machine.
  func mustSurvive(_ word: String, isDeleted: Bool) -> Bool {
    (isDeleted ? storedDeletions : stored).contains(word)
  }

  func excuse(_ words: Set<String>) { uncertain.formUnion(words) }
}

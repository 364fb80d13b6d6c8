import AutomergeRepo
import NotesHarness

/// Decides which faults happen in a run, and knows what they excuse.
@AutomergeRepo
final class FaultInjector {
  /// The direction from one person's machine to another's.
  struct Way: Hashable {
    var (sender, receiver): (PeerId, PeerId)
  }

  /// A fault happens in one of this many steps.
  private static let stepsPerFault = 12

  let kinds: [Fault]
  var lostWays: Set<Way> = []
  var heldWays: [Way: Duration] = [:]
  /// Words that may or may not be in the final text: undone, or lost in a power failure before they were stored.
  private(set) var uncertain: Set<String> = []
  /// Words that may be in the final text twice, or once after one of the two was deleted.
  private(set) var doubled: Set<String> = []
  /// Words that a service has reported as stored to the person who typed them, and words whose deletion it has reported
  /// as stored to the person who deleted them.
  private var (stored, storedDeletions): (Set<String>, Set<String>) = ([], [])
  /// Who deleted each word.
  var deleters: [String: String] = [:]
  /// The buffer from which that person deleted it.
  var deletionBuffers: [String: ModelBuffer] = [:]
  /// The machine on which another program wrote each word.
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

  /// The fault of this step, if any.
  func draw() -> Fault? {
    guard !kinds.isEmpty, below(Self.stepsPerFault) == 0 else { return nil }
    return kinds[below(kinds.count)]
  }

  func drawBytes(_ count: Int) -> [UInt8] { random.bytes(count) }

  // MARK: What a fault excuses

  /// Call when the service of a buffer has told the person that everything in a text is stored. That a word is not in the text
  /// says that its deletion is stored only if the word was deleted from this buffer: the service of another one may never have
  /// heard of the word.
  func isStored(
    _ text: String, in buffer: ModelBuffer?, for person: String, authors: [String: String], deleted: Set<String>
  ) {
    let words = Set(text.split(separator: "\n").map(String.init))
    stored.formUnion(words.filter { authors[$0] == person })
    storedDeletions.formUnion(
      deleted.filter { deleters[$0] == person && deletionBuffers[$0] === buffer && !words.contains($0) })
  }

  /// Whether a word must survive a power failure of its author's machine; or its deletion, one of the machine of the
  /// person who deleted it.
  func mustSurvive(_ word: String, isDeleted: Bool) -> Bool {
    (isDeleted ? storedDeletions : stored).contains(word)
  }

  func excuse(_ words: Set<String>) { uncertain.formUnion(words) }

  func excuseTwice(_ words: Set<String>) { doubled.formUnion(words) }
}

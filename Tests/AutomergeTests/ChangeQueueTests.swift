import TestSupport
import Testing

@testable import Automerge

/// Changes that wait for others are applied as if all of them were looked through each time.
struct ChangeQueueTests {
  private static let actor = ActorId(bytes: [1])

  private static func hash(_ number: Int) -> ChangeHash {
    // The first eight bytes find a hash, so these differ as those of real ones do.
    var word = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15, bytes: [UInt8] = []
    for _ in 0..<32 {
      bytes.append(UInt8(truncatingIfNeeded: word >> 56))
      word = word &* 0xD134_2543_DE82_EF95 &+ 1
    }
    guard let hash = ChangeHash(bytes: bytes) else { preconditionFailure("there are 32 bytes") }
    return hash
  }

  private static func change(_ number: Int, deps: [Int]) -> DecodedChange {
    let header = ChangeHeader(
      deps: deps.map(hash), actor: actor, seq: 1, startOp: 1, time: 0, message: nil)
    return DecodedChange(hash: hash(number), header: header, actorList: [actor])
  }

  /// A document that only notes what is applied, and refuses some of it.
  private struct Receiver {
    let graph = ChangeGraph()
    var queue = ChangeQueue()
    let refused: Set<ChangeHash>

    func append(_ hash: ChangeHash) {
      let number = UInt32(graph.count + 1)
      graph.append(
        ChangeRecord(actor: 0, seq: number, startOp: number, opCount: 1, time: 0), deps: [], message: nil, extra: [])
      graph.appendHash(hash)
    }

    mutating func receive(_ changes: [DecodedChange]) {
      for change in changes where graph.row(of: change.hash) == nil { queue.add(change) }
      while true {
        let ready = queue.takeReady(graph)
        if ready.order.isEmpty { break }
        for change in ready.order.map({ ready.changes[$0] }) {
          if change.header.deps.contains(where: { graph.row(of: $0) == nil }) {
            queue.add(change)
          } else if !refused.contains(change.hash) {
            append(change.hash)
          }
        }
      }
      queue.trim()
    }
  }

  /// The same by looking through all that waits.
  private struct SlowReceiver {
    var applied: [ChangeHash] = []
    var known: Set<ChangeHash> = []
    var waiting: [DecodedChange] = []
    let refused: Set<ChangeHash>

    mutating func append(_ hash: ChangeHash) {
      applied.append(hash)
      known.insert(hash)
    }

    mutating func receive(_ changes: [DecodedChange]) {
      for change in changes where !known.contains(change.hash) { add(change) }
      while true {
        var all = HashIndex()
        let changes = waiting, hashes = changes.map(\.hash)
        for place in hashes.indices { all.insert(place: place, in: hashes) }
        let order = ReadyOrder.order(
          of: hashes, all, deps: { changes[$0].header.deps }, isKnown: { known.contains($0) })
        if order.isEmpty { break }
        let taken = Set(order)
        waiting = changes.indices.filter { !taken.contains($0) }.map { changes[$0] }
        for change in order.map({ changes[$0] }) {
          if !known.isSuperset(of: change.header.deps) {
            add(change)
          } else if !refused.contains(change.hash) {
            append(change.hash)
          }
        }
      }
      trim()
    }

    private mutating func add(_ change: DecodedChange) {
      if !waiting.contains(where: { $0.hash == change.hash }) { waiting.append(change) }
    }

    private mutating func trim() {
      var byteCount = 0, kept = 0
      for change in waiting.prefix(4096) {
        byteCount += 128 + 32 * change.header.deps.count
        if byteCount > 16 << 20, kept > 0 { break }
        kept += 1
      }
      waiting.removeLast(waiting.count - kept)
    }
  }

  private func expectSame(_ receiver: Receiver, _ slow: SlowReceiver, _ seed: UInt64) {
    #expect(receiver.graph.hashes == slow.applied, "seed \(seed)")
    #expect(receiver.queue.all.map(\.hash) == slow.waiting.map(\.hash), "seed \(seed)")
    #expect(receiver.queue.count == slow.waiting.count, "seed \(seed)")
    #expect(receiver.queue.isEmpty == slow.waiting.isEmpty, "seed \(seed)")
    for change in slow.waiting { #expect(receiver.queue[change.hash]?.header.deps == change.header.deps) }
  }

  @Test(arguments: SeedCount.part(of: 0..<60 as Range<UInt64>))
  func changesThatComeInAnyOrderAreAppliedInTheSame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 5...80, using: &random), near = Int.random(in: 2...count, using: &random)
    let changes = (0..<count).map { number in
      let deps = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ -> Int? in
        // Some never come, and some are named twice.
        if Int.random(in: 0..<40, using: &random) == 0 { return 1000 + Int.random(in: 0..<3, using: &random) }
        return number == 0 ? nil : Int.random(in: max(0, number - near)..<number, using: &random)
      }
      return Self.change(number, deps: deps)
    }
    let refused = Set((0..<count).filter { _ in Int.random(in: 0..<25, using: &random) == 0 }.map(Self.hash))
    var receiver = Receiver(refused: refused), slow = SlowReceiver(refused: refused)
    // Each comes once, and some come again, among them those that were refused.
    var left = (changes + changes.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)[...]
    while !left.isEmpty {
      let batch = Array(left.prefix(Int.random(in: 1...6, using: &random)))
      left = left.dropFirst(batch.count)
      // What others lack may also be written here, or come in another way.
      if Int.random(in: 0..<8, using: &random) == 0, let own = changes.randomElement(using: &random),
        !slow.known.contains(own.hash), receiver.queue[own.hash] == nil
      {
        receiver.append(own.hash)
        slow.append(own.hash)
      }
      receiver.receive(batch)
      slow.receive(batch)
      expectSame(receiver, slow, seed)
    }
  }

  @Test(arguments: [1, 10_000]) func ofTooManyTheFirstAreKept(depCount: Int) {
    var receiver = Receiver(refused: []), slow = SlowReceiver(refused: [])
    let count = depCount == 1 ? 5000 : 80
    for start in stride(from: 0, to: count, by: count / 5) {
      let changes = (start..<start + count / 5).map { number in
        Self.change(number, deps: Array(repeating: 10_000 + number % 3, count: depCount))
      }
      receiver.receive(changes)
      slow.receive(changes)
      expectSame(receiver, slow, 0)
    }
    #expect(slow.waiting.count < count)
    for missing in 0..<3 {
      let change = Self.change(10_000 + missing, deps: [])
      receiver.receive([change])
      slow.receive([change])
      expectSame(receiver, slow, 0)
    }
    #expect(slow.waiting.isEmpty)
  }
}

import TestSupport
import Testing

@testable import Automerge

/// A slot is like a list that is sorted again after each operation, however many there are and in whatever order they come.
struct SlotTests {
  private static func actors(_ count: UInt8) -> ActorTable {
    let table = ActorTable()
    // Not in the order of their bytes.
    for number in 0..<count { _ = table.index(of: ActorId(bytes: [number &* 77])) }
    return table
  }

  private static func put(_ id: OpId) -> StoredOp { StoredOp(id: id, action: .set, value: .null) }

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func operationsThatComeInAnyOrderStandInTheirs(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let actors = Self.actors(5)
    // Long enough that late ones are collected, and are taken in several times.
    let count = seed % 2 == 0 ? 4000 : 60
    let ids = (1...count).flatMap { counter in
      (0..<UInt32(5)).shuffled(using: &random).prefix(2).map { OpId(counter: UInt32(counter), actor: $0) }
    }
    // Each actor's operations come in their order, in stretches.
    var left = Dictionary(grouping: ids, by: \.actor).mapValues { $0[...] }, slot = Slot()
    var (ops, successors): ([OpId], [OpId: [OpId]]) = ([], [:])
    func ascending(_ ids: [OpId]) -> [OpId] { ids.sorted { actors.precedes($0, $1) } }
    while let actor = left.keys.sorted().randomElement(using: &random) {
      for _ in 0..<Int.random(in: 1...count, using: &random) {
        guard let id = left[actor]?.popFirst() else { break }
        let overwritten =
          Int.random(in: 0..<3, using: &random) == 0 ? ops.suffix(2000).randomElement(using: &random) : nil
        let op = Self.put(id)
        slot.addSuccessor(op, to: overwritten.map { [$0] } ?? [], actors: actors)
        slot.add(op, actors: actors)
        ops.append(id)
        if let overwritten { successors[overwritten, default: []].append(id) }
      }
      if left[actor]?.isEmpty ?? true { left[actor] = nil }
      check()
    }
    func check() {
      let sorted = ascending(ops), visible = sorted.filter { successors[$0] == nil }
      #expect(slot.ops.map(\.id) == sorted, "seed \(seed)")
      #expect(slot.first?.id == sorted.first, "seed \(seed)")
      #expect(slot.visible().map(\.id) == visible, "seed \(seed)")
      #expect(slot.winner()?.id == visible.last, "seed \(seed)")
      #expect(slot.isPresent == !visible.isEmpty && slot.isInConflict == (visible.count > 1), "seed \(seed)")
      for id in sorted.shuffled(using: &random).prefix(50) {
        #expect(slot[id, actors]?.successors.elements ?? [] == ascending(successors[id] ?? []), "seed \(seed)")
      }
      #expect(slot == Slot(ops: slot.ops), "seed \(seed)")
      #expect(slot[OpId(counter: UInt32(count + 1), actor: 0), actors] == nil)
    }
  }

  /// What two people wrote at one key while they were apart, and one who overwrites each of it.
  @Test func manyOperationsThatComeLateDoNotCostTheirSquare() {
    let actors = Self.actors(2), count: UInt32 = 40_000
    var slot = Slot()
    for counter in 1...count { slot.add(Self.put(OpId(counter: counter, actor: 0)), actors: actors) }
    let took = ProcessorTime.inThisThread {
      for counter in 1...count {
        let op = Self.put(OpId(counter: counter, actor: 1))
        slot.addSuccessor(op, to: [OpId(counter: counter, actor: 0)], actors: actors)
        slot.add(op, actors: actors)
      }
    }
    #expect(slot.ops.count == 2 * Int(count) && slot.visible().count == count)
    print("\(count) late operations that overwrite as many took \(took.seconds) s")
    // Their square would be a minute in a build like that of the tests.
    #expect(took.seconds < 8)
  }

  /// Eight people who wrote at one key, and incremented one counter there, while they were apart.
  @Test func operationsOfManyPeopleAtOneKeyDoNotCostTheirSquare() {
    let actors = Self.actors(9), count: UInt32 = 20_000, counter = OpId(counter: 1, actor: 8)
    var slot = Slot(ops: [StoredOp(id: counter, action: .set, value: RawValue(.Counter(0)))])
    let took = ProcessorTime.inThisThread {
      for actor in 0..<UInt32(8) {
        for number in 2...count {
          let id = OpId(counter: number, actor: actor)
          guard number.isMultiple(of: 2) else {
            slot.add(Self.put(id), actors: actors)
            continue
          }
          let increment = StoredOp(id: id, action: .increment, value: RawValue(.Int(1)))
          slot.addSuccessor(increment, to: [counter], actors: actors)
          slot.add(increment, actors: actors)
        }
      }
    }
    #expect(slot.visible().count == 1 + 8 * (Int(count) / 2 - 1))
    #expect(slot[counter, actors].map { slot.scalar(of: $0, actors) } == .Counter(8 * Int64(count) / 2))
    print("\(8 * count) operations of eight people at one key took \(took.seconds) s")
    // Their square takes minutes in a build like that of the tests.
    #expect(took.seconds < 15)
  }

  /// Each value names the two before it as those that it replaces; seen one by one, the ways among sixty would take days.
  @Test func whatCameAfterHiddenOperationsIsLookedAtOnce() {
    let actors = Self.actors(2), first = OpId(counter: 1, actor: 0)
    var slot = Slot(ops: [Self.put(first)])
    func id(_ number: UInt32) -> OpId { number == 1 ? first : OpId(counter: number, actor: 1) }
    for number in 2...(60 as UInt32) {
      let op = Self.put(id(number))
      slot.addSuccessor(op, to: [number - 1, number - 2].filter { $0 > 0 }.map(id), actors: actors)
      slot.add(op, actors: actors)
    }
    #expect(slot.winner(at: Clock.now.without([2...60], of: 1))?.id == first)
    #expect(slot.winner(at: Clock.now.without([2...59], of: 1))?.id == id(60))
  }

  /// Sixty thousand of them, one after another, would not fit on the stack.
  @Test func aLongChainOfHiddenOperationsNeedsNoStack() {
    let actors = Self.actors(2), first = OpId(counter: 1, actor: 0)
    let chain = (2...(60_000 as UInt32)).map { OpId(counter: $0, actor: 1) }
    var slot = Slot(ops: [Self.put(first)]), last = first
    for id in chain {
      slot.addSuccessor(Self.put(id), to: [last], actors: actors)
      slot.add(Self.put(id), actors: actors)
      last = id
    }
    #expect(slot.winner(at: Clock.now.without([2...60_000], of: 1))?.id == first)
  }
}

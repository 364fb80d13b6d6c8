import Testing

@testable import Automerge

/// Memory that only the arena's own checks protect.
struct ArenaTests {
  @Test func elementsMoveWithinTheArena() {
    let arena = Arena<Int>(capacity: 2)
    for number in 0..<10 { arena.append(number) }
    arena.move(from: 0, to: 2, count: 8)
    #expect(arena.withElements { Array($0) } == [0, 1, 0, 1, 2, 3, 4, 5, 6, 7])
    arena.move(from: 2, to: 0, count: 8)
    #expect(arena.withElements { Array($0) } == [0, 1, 2, 3, 4, 5, 6, 7, 6, 7])
    arena.move(from: 10, to: 0, count: 0)
    arena.move(from: 0, to: 10, count: 0)
  }

  @Test func nothingMovesFromOrToWhereTheArenaHasNoElement() async {
    await #expect(processExitsWith: .failure) { Arena<Int>.moving(from: -1, to: 0, count: 1) }
    await #expect(processExitsWith: .failure) { Arena<Int>.moving(from: 0, to: -1, count: 1) }
    await #expect(processExitsWith: .failure) { Arena<Int>.moving(from: 3, to: 0, count: 2) }
    await #expect(processExitsWith: .failure) { Arena<Int>.moving(from: 0, to: 3, count: 2) }
    await #expect(processExitsWith: .success) { Arena<Int>.moving(from: 0, to: 2, count: 2) }
  }
}

extension Arena where Element == Int {
  /// A move in an arena of four elements.
  fileprivate static func moving(from source: Int, to target: Int, count: Int) {
    let arena = Arena()
    for number in 0..<4 { arena.append(number) }
    arena.move(from: source, to: target, count: count)
  }
}

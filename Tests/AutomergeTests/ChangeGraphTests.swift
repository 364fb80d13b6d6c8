import TestSupport
import Testing

@testable import Automerge

/// What one side lacks of the other side's history.
struct ChangeGraphTests {
  /// Changes on top of the heads, of one head, or of changes from long ago.
  private func graph(_ count: Int, _ random: inout SeededGenerator) -> ChangeGraph {
    let graph = ChangeGraph()
    for row in 0..<count {
      var deps: Set<UInt32> = []
      switch Int.random(in: 0..<10, using: &random) {
      case _ where row == 0: break
      case 0: deps = [UInt32.random(in: 0..<UInt32(row), using: &random)]
      case 1: deps = Set(graph.heads)
      case 2: deps = [UInt32(row - 1), UInt32.random(in: 0..<UInt32(row), using: &random)]
      default: deps = [UInt32(row - 1)]
      }
      let record = ChangeRecord(actor: 0, seq: UInt32(row + 1), startOp: UInt32(row + 1), opCount: 1, time: 0)
      graph.append(record, deps: deps.sorted(), message: nil, extra: [])
    }
    return graph
  }

  /// The same without any haste.
  private func slowly(_ graph: ChangeGraph, notAncestorsOf known: [Int]) -> [Int] {
    var (isKnown, open) = ([Bool](repeating: false, count: graph.count), known)
    while let row = open.popLast() {
      if isKnown[row] { continue }
      isKnown[row] = true
      open += graph.deps(of: row).map { Int($0) }
    }
    return (0..<graph.count).filter { !isKnown[$0] }
  }

  @Test(arguments: SeedCount.part(of: 0..<20 as Range<UInt64>)) func whatIsMissingIsFound(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let graph = graph(seed < 15 ? 60 : 3000, &random)
    for _ in 0..<40 {
      let known = (0..<Int.random(in: 0...4, using: &random)).map { _ in Int.random(in: 0..<graph.count, using: &random)
      }
      #expect(graph.rows(notAncestorsOf: known) == slowly(graph, notAncestorsOf: known), "seed \(seed), \(known)")
    }
  }

  /// Peers that ask for everything, or share only what is old, have long walks made: with little for each row.
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func aLongWalkCostsLittleForEachRow() {
    var random = SeededGenerator(seed: 1)
    let graph = graph(100_000, &random)
    func seconds(_ work: () -> Void) -> Double { ProcessorTime.inThisThread { for _ in 0..<10 { work() } }.seconds }
    let whole = seconds { _ = graph.rows(notAncestorsOf: []) }
    let walk = seconds { _ = graph.rows(notAncestorsOf: [3, 5]) }
    let deps = seconds { _ = (0..<graph.count).reduce(0) { $0 + graph.deps(of: $1).count } }
    print("everything of 100,000 changes, 10 times: \(whole); what two do not have: \(walk); all dependencies: \(deps)")
    #expect(walk < deps * 12)
    #expect(whole < deps)
  }
}

import Testing

@testable import NotesServer

struct GateFuzzTests {
  private func run(seed: UInt64, steps: Int, isCoarse: Bool) -> GateSimulation {
    let encoding = PositionEncoding.allCases[Int(seed % 3)]
    var simulation = GateSimulation(seed: seed, manners: .init(isCoarse: isCoarse, encoding: encoding))
    for step in 1...steps {
      simulation.step()
      if step % 100 == 0 { simulation.settle() }
      if !simulation.failures.isEmpty { break }
    }
    simulation.settle()
    return simulation
  }

  @Test(arguments: UInt64(0)..<32) func changesLandWhereTheirElementsSay(seed: UInt64) {
    let simulation = run(seed: seed, steps: 200, isCoarse: false)
    #expect(simulation.failures.first == nil, "seed \(seed)")
    #expect(simulation.applied > 0 && simulation.dropped > 0, "seed \(seed)")
  }

  @Test(arguments: UInt64(0)..<32) func coarseAndLostChangesConvergeAndKeepWhatWasTyped(seed: UInt64) {
    let simulation = run(seed: seed, steps: 200, isCoarse: true)
    #expect(simulation.failures.first == nil, "seed \(seed)")
  }
}

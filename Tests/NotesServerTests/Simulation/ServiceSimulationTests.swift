import AutomergeRepo
import Foundation
import ServiceSimulation
import Testing

/// Whole services in one process: `make simulate SEEDS=5` runs more seeds, and `make simulate SEED=123` one of them again.
@AutomergeRepo @Suite(.serialized) struct ServiceSimulationTests {
  private nonisolated static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  private nonisolated static var seeds: [UInt64] {
    if let seed = number("NOTES_SIMULATION_SEED") { return [seed] }
    let first: UInt64 = 1
    return Array(first..<first + (number("NOTES_SIMULATION") ?? 6))
  }

  /// Steps to leave out, to see which ones a failure needs.
  private nonisolated static var without: Set<Simulation.Step> {
    let names = ProcessInfo.processInfo.environment["NOTES_SIMULATION_WITHOUT"] ?? ""
    return Set(names.split(separator: ",").compactMap { Simulation.Step(rawValue: String($0)) })
  }

  @Test(arguments: seeds) func everyWordStandsOnceInTheEnd(seed: UInt64) async throws {
    let simulation = Simulation(seed: seed, without: Self.without)
    do {
      try await simulation.run(steps: 300)
    } catch {
      if Self.number("NOTES_SIMULATION_SEED") != nil { print(simulation.history.joined(separator: "\n")) }
      Issue.record("replay with NOTES_SIMULATION_SEED=\(seed): \(error)")
    }
    print("seed \(seed): \(simulation.report)")
  }
}

import AutomergeRepo
import Foundation
import ServiceSimulation

/// `notes-soak FIRST STRIDE COUNT [FAULT,…] [history]`: runs COUNT seeds of the simulation of whole services, from FIRST in steps of
/// STRIDE, and prints for each, as it begins and as it ends, a line of JSON; on request what happened in it, too. `Tests/ledger.py`
/// starts it, one process for each core.
@main
struct Soak {
  private static let stepCount = 300

  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    let numbers = arguments.prefix(3).compactMap { UInt64($0) }
    guard numbers.count == 3 else {
      say("usage: notes-soak FIRST STRIDE COUNT [FAULT,…] [history]")
      exit(2)
    }
    let names = arguments.dropFirst(3).first ?? ""
    let faults = Set(names.split(separator: ",").compactMap { Fault(rawValue: String($0)) })
    for number in 0..<numbers[2] {
      let seed = numbers[0] + number * numbers[1]
      say(#"{"begun": \#(seed)}"#)
      say(await run(seed, faults))
    }
  }

  /// A line at once, whatever standard output is.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  @AutomergeRepo
  private static func run(_ seed: UInt64, _ faults: Set<Fault>) async -> String {
    let simulation = Simulation(seed: seed, faults: faults)
    simulation.isAlone = true
    simulation.watchesDocuments = CommandLine.arguments.last == "history"
    defer { if simulation.watchesDocuments { simulation.history.forEach(say) } }
    var result: [String: Any] = ["seed": seed]
    do {
      try await simulation.run(steps: stepCount)
    } catch {
      result["failure"] = "\(error)"
    }
    result["counts"] = simulation.report.counts
    result["simulated"] = simulation.simulatedSeconds
    let data = try? JSONSerialization.data(withJSONObject: result, options: .sortedKeys)
    return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

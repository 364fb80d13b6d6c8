import AutomergeRepo
import Foundation
import ServiceSimulation

/// `notes-soak FIRST STRIDE COUNT [FAULT,…] [STEP,…] [history]`: runs COUNT seeds of the simulation of whole services, from FIRST in
/// steps of STRIDE, with these faults or `all`, and without these steps. Prints for each seed, as it begins and as it ends, a line of
/// JSON; on request what happened in it, too. `Tests/ledger.py` starts it, one process for each core.
@main
struct Soak {
  private static let stepCount = 300

  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    let numbers = arguments.prefix(3).compactMap { UInt64($0) }
    guard numbers.count == 3 else {
      say("usage: notes-soak FIRST STRIDE COUNT [FAULT,…] [STEP,…] [history]")
      exit(2)
    }
    let lists = arguments.dropFirst(3).map { $0.split(separator: ",").map(String.init) }
    let faults = lists.first == ["all"] ? Set(Fault.allCases) : Set(values(lists.first ?? []))
    let without = Set<Simulation.Step>(values(lists.dropFirst().first.flatMap { $0 == ["history"] ? nil : $0 } ?? []))
    SingleThread.shared.run {
      for number in 0..<numbers[2] {
        let seed = numbers[0] + number * numbers[1]
        say(#"{"begun": \#(seed)}"#)
        say(await run(Simulation(seed: seed, without: without, faults: faults)))
      }
      exit(0)
    }
  }

  /// What the names stand for. A name that is none ends the program: a run without the faults that were meant would prove nothing.
  private static func values<Value: RawRepresentable<String>>(_ names: [String]) -> [Value] {
    names.map { name in
      guard let value = Value(rawValue: name) else {
        say("there is no \(name)")
        exit(2)
      }
      return value
    }
  }

  /// A line at once, whatever standard output is.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  @AutomergeRepo
  private static func run(_ simulation: Simulation) async -> String {
    simulation.watchesDocuments = CommandLine.arguments.last == "history"
    defer { if simulation.watchesDocuments { simulation.history.forEach(say) } }
    var result: [String: Any] = ["seed": simulation.seed]
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

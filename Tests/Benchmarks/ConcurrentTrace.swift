import Foundation
import JSONRPC
import TestSupport

/// A recording of several people writing one text at the same time.
struct ConcurrentTrace {
  struct Transaction {
    let agent: Int
    /// Transactions that this agent has to take in before this one, in order.
    let needed: [Int]
    let patches: [EditingTrace.Patch]
  }

  let name: String
  let endContent: String
  let agentCount: Int
  let transactions: [Transaction]

  /// Reads a gzipped trace in the format of josephg/editing-traces, kind "concurrent".
  init(contentsOf path: String) throws {
    let trace: JSONValue
    (name, trace) = try EditingTrace.unpack(path)
    guard let endContent = trace["endContent"]?.stringValue, let entries = trace["txns"]?.arrayValue,
      let agentCount = trace["numAgents"]?.intValue.map({ Int($0) }), (1...64).contains(agentCount)
    else { throw TraceError.unreadable(path) }
    (self.endContent, self.agentCount) = (endContent, agentCount)
    // What each agent has seen: an agent's own transactions are ordered, so a number for each agent says it all.
    var clocks: [[Int]] = [], seen = Array(repeating: Array(repeating: 0, count: agentCount), count: agentCount)
    var byAgent = Array(repeating: [Int](), count: agentCount)
    var transactions: [Transaction] = []
    for (place, entry) in entries.enumerated() {
      guard let agent = entry["agent"]?.intValue.map({ Int($0) }), (0..<agentCount).contains(agent) else {
        throw TraceError.unreadable(path)
      }
      var needed: [Int] = []
      for parent in entry["parents"]?.arrayValue ?? [] {
        guard let parent = parent.intValue.map({ Int($0) }), clocks.indices.contains(parent) else {
          throw TraceError.unreadable(path)
        }
        for other in 0..<agentCount where clocks[parent][other] > seen[agent][other] {
          needed += byAgent[other][seen[agent][other]..<clocks[parent][other]]
          seen[agent][other] = clocks[parent][other]
        }
      }
      byAgent[agent].append(place)
      seen[agent][agent] = byAgent[agent].count
      clocks.append(seen[agent])
      let patches = try EditingTrace.Patch.list(entry["patches"], path: path)
      transactions.append(Transaction(agent: agent, needed: needed.sorted(), patches: patches))
    }
    self.transactions = transactions
  }
}

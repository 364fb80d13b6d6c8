import ArgumentParser
import Automerge
import Foundation

/// Replays what several people wrote at the same time, as each of them saw it.
struct ReplayConcurrent: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "concurrent", abstract: "Traces of several writers: a live session, receiving, saving, loading.")

  @Argument(help: "Traces of several writers as NAME.json.gz, in the format of josephg/editing-traces.")
  var traces: [String]

  @OptionGroup var options: MeasureOptions

  func run() throws {
    for path in traces { _ = try Self.measure(ConcurrentTrace(contentsOf: path), options) }
  }

  static func measure(_ trace: ConcurrentTrace, _ options: MeasureOptions) throws -> [Measure] {
    let set = MeasureSet(trace: "\(trace.name) (concurrent)", options)
    let base = try WrittenText().document.save()
    try set.time("live_session_all_agents", repetitions: 3) {
      try trace.replay(from: base).all
    } check: { last in
      guard try last.document.text(obj: last.text) == trace.endContent else {
        throw TraceError.otherText(trace.name)
      }
    }
    let (last, updates) = try trace.replay(from: base)
    let check = { (document: Document) in
      guard try document.text(obj: WrittenText(document: document).text) == trace.endContent else {
        throw TraceError.otherText(trace.name)
      }
    }
    try set.time(
      "receive_each", setUp: { try Document(base) },
      { document in
        for update in updates { _ = try document.applyEncodedChangesWithTextEdits(encoded: update) }
        return document
      }, check: check)
    let all = Data(updates.joined())
    try set.time(
      "receive_batch", setUp: { try Document(base) },
      { document in
        try document.applyEncodedChanges(encoded: all)
        return document
      }, check: check)
    let saved = last.document.save()
    try set.time("save") { last.document.save() }
    set.size("size", byteCount: saved.count)
    try set.time("load_verified", { try Document(saved) }, check: check)
    return set.measures
  }
}

extension ConcurrentTrace {
  /// The session of all agents. Returns a document that has seen everything, and what was sent for each transaction.
  func replay(from base: Data) throws -> (all: WrittenText, updates: [Data]) {
    let agents = try (0..<agentCount).map { _ in try WrittenText(loading: base) }, now = Date()
    var updates: [Data] = []
    updates.reserveCapacity(transactions.count)
    for transaction in transactions {
      let agent = agents[transaction.agent]
      for needed in transaction.needed where !updates[needed].isEmpty {
        _ = try agent.document.applyEncodedChangesWithTextEdits(encoded: updates[needed])
      }
      _ = agent.document.encodeNewChanges()
      for patch in transaction.patches { try agent.apply(patch) }
      agent.document.commitWith(timestamp: now)
      updates.append(agent.document.encodeNewChanges())
    }
    let all = try WrittenText(loading: base)
    try all.document.applyEncodedChanges(encoded: Data(updates.joined()))
    return (all, updates.filter { !$0.isEmpty })
  }
}

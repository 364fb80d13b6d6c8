import ArgumentParser
import Automerge
import Foundation

/// Replays recorded editing through the document's public API, in processor time.
struct ReplayTraces: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Editing traces: each keystroke sent and received, typing, saving, loading, memory.")

  @Argument(help: "Traces as NAME.json.gz, in the format of josephg/editing-traces.")
  var traces: [String]

  @OptionGroup var options: MeasureOptions

  func run() throws {
    for path in traces { _ = try TraceMeasures(EditingTrace(contentsOf: path), options).takeAll() }
  }
}

/// All measures of one sequential trace.
struct TraceMeasures {
  let trace: EditingTrace
  private let set: MeasureSet

  init(_ trace: EditingTrace, _ options: MeasureOptions) {
    self.trace = trace
    set = MeasureSet(trace: trace.name, options)
  }

  func takeAll() throws -> [Measure] {
    try live()
    // Typing without looking: what a program pays that reads nothing and sends nothing until the end.
    try set.time("local_txn_each") {
      try trace.replay(committingEach: true)
    } check: {
      try $0.check(trace)
    }
    try set.time("local_one_txn") {
      try trace.replay(committingEach: false)
    } check: {
      try $0.check(trace)
    }
    let written = try trace.replay(committingEach: true)
    try save(written)
    try receive(written)
    try memory(written)
    return set.measures
  }

  /// What each keystroke costs a person who writes with another one, and what it costs that one, or a server.
  private func live() throws {
    let names = ["live_send_each", "live_receive_each"]
    guard names.contains(where: set.wants) else { return }
    var (sending, receiving): ([Double], [Double]) = ([], [])
    for _ in 0..<set.repetitions {
      var pair = try LiveKeystrokes()
      try pair.type(trace)
      let microseconds = Double(max(trace.ends.count, 1)) * 1000
      sending.append(Double(pair.sending) / microseconds)
      receiving.append(Double(pair.receiving) / microseconds)
    }
    for (name, samples) in zip(names, [sending, receiving]) where set.wants(name) {
      set.add(Measure(trace: trace.name, name: name, unit: "µs", samples: samples))
    }
  }

  private func memory(_ written: WrittenText) throws {
    if set.wants("mem_replay_peak") {
      set.add(
        Measure(
          trace: trace.name, name: "mem_replay_peak", unit: "KiB", samples: [try MemoryProbe.peak(of: trace.path)]))
    }
    guard set.wants("mem_load_peak") else { return }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try written.document.save().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    set.add(
      Measure(trace: trace.name, name: "mem_load_peak", unit: "KiB", samples: [try MemoryProbe.peak(of: file.path)]))
  }

  private func save(_ written: WrittenText) throws {
    // The first save also names the changes; what is measured is encoding.
    let saved = written.document.save()
    try set.time("save") { written.document.save() }
    set.size("size", byteCount: saved.count)
    try set.time("save_uncompressed") { written.document.save(deflating: false) }
    try set.time("load_and_read_text") {
      let loaded = try WrittenText(document: Document(saved, verification: .deferred))
      return try loaded.document.text(obj: loaded.text)
    } check: {
      guard $0 == trace.endContent else { throw TraceError.otherText(trace.name) }
    }
    try set.time("load_verified") {
      try WrittenText(loading: saved)
    } check: {
      try $0.check(trace)
    }
  }

  private func receive(_ written: WrittenText) throws {
    let names = ["receive_each", "receive_last_100", "receive_batch"]
    guard names.contains(where: set.wants) else { return }
    let (updates, base) = try trace.updates()
    try set.time("receive_each", repetitions: 3) {
      try Document(base)
    } _: { document in
      for update in updates { _ = try document.applyEncodedChangesWithTextEdits(encoded: update) }
      return document
    } check: {
      try WrittenText(document: $0).check(trace)
    }
    try set.time("receive_last_100") {
      let document = try Document(base)
      try document.applyEncodedChanges(encoded: Data(updates.dropLast(100).joined()))
      return document
    } _: { document in
      for update in updates.suffix(100) { _ = try document.applyEncodedChangesWithTextEdits(encoded: update) }
      return document
    } check: {
      try WrittenText(document: $0).check(trace)
    }
    let all = Data(updates.joined())
    try set.time("receive_batch") {
      try Document(base)
    } _: { document in
      try document.applyEncodedChanges(encoded: all)
      return document
    } check: {
      try WrittenText(document: $0).check(trace)
    }
  }
}

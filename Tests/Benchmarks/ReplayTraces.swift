import ArgumentParser
import Automerge
import Foundation

/// Replays recorded editing through the document's public API, in processor time.
struct ReplayTraces: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Editing traces: replay, save, load.")

  @Argument(help: "Traces as NAME.json.gz, in the format of josephg/editing-traces.")
  var traces: [String]

  @Option(help: "How often each measure is taken; the median counts.")
  var repetitions = 3

  @OptionGroup var output: OutputOptions

  func run() throws {
    for path in traces { try measure(EditingTrace(contentsOf: path)) }
  }

  private func measure(_ trace: EditingTrace) throws {
    var saved = Data()
    try report(trace, "local_txn_each") {
      let document = Document()
      let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
      document.commitWith()
      for transaction in trace.transactions {
        for patch in transaction {
          try document.spliceText(obj: text, start: patch.position, delete: patch.deleted, value: patch.inserted)
        }
        document.commitWith()
      }
      return (document, text)
    } check: { document, text in
      guard try document.text(obj: text) == trace.endContent else { throw TraceError.otherText(trace.name) }
    }
    try report(trace, "local_one_txn") {
      let document = Document()
      let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
      for transaction in trace.transactions {
        for patch in transaction {
          try document.spliceText(obj: text, start: patch.position, delete: patch.deleted, value: patch.inserted)
        }
      }
      document.commitWith()
      return (document, text)
    } check: { document, text in
      guard try document.text(obj: text) == trace.endContent else { throw TraceError.otherText(trace.name) }
    }
    let document = try replay(trace)
    try report(trace, "save") {
      document.save()
    } check: {
      saved = $0
    }
    Measure(
      suite: "replay", subject: trace.name, name: "saved_size", unit: "bytes", values: [("value", Double(saved.count))]
    ).print(asJSON: output.json)
    try report(trace, "load_and_read_text") {
      let loaded = try Document(saved)
      guard case .Object(let text, _)? = try loaded.get(obj: .ROOT, key: "text") else {
        throw TraceError.otherText(trace.name)
      }
      return try loaded.text(obj: text)
    } check: { text in
      guard text == trace.endContent else { throw TraceError.otherText(trace.name) }
    }
  }

  private func replay(_ trace: EditingTrace) throws -> Document {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    document.commitWith()
    for transaction in trace.transactions {
      for patch in transaction {
        try document.spliceText(obj: text, start: patch.position, delete: patch.deleted, value: patch.inserted)
      }
      document.commitWith()
    }
    return document
  }

  /// Measures the work some times, checks what it made, and prints the line.
  private func report<Result>(
    _ trace: EditingTrace, _ name: String, work: () throws -> Result, check: (Result) throws -> Void
  ) throws {
    var milliseconds: [Double] = []
    for _ in 0..<max(repetitions, 1) {
      let start = processorMilliseconds()
      let result = try work()
      milliseconds.append(processorMilliseconds() - start)
      try check(result)
    }
    Measure(
      suite: "replay", subject: trace.name, name: name, unit: "ms CPU",
      values: [
        ("value", milliseconds.percentile(0.5)), ("min", milliseconds.min() ?? 0), ("max", milliseconds.max() ?? 0),
        ("reps", Double(milliseconds.count)),
      ]
    ).print(asJSON: output.json)
  }
}

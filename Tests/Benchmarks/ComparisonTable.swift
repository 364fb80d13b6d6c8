import Foundation

/// Measures side by side: one row for a measure of a trace, one column for a library, with ratios to ours.
struct ComparisonTable {
  private let measures: [Measure]
  /// The column of each library, in order.
  private static let columns = [
    ("notes-lsp", "notes-lsp"), ("loro", "Loro"), ("pycrdt", "yrs (pycrdt)"), ("automerge", "Automerge 0.5"),
    ("floor", "gap buffer"),
  ]

  init(_ measures: [Measure]) { self.measures = measures }

  var markdown: String {
    let libraries = Self.columns.filter { column in measures.contains { $0.library == column.0 } }
    var lines = ["| trace | measure | unit |" + libraries.map { " \($0.1) |" }.joined()]
    lines.append("|---|---|---|" + libraries.map { _ in "---:|" }.joined())
    var done: Set<String> = []
    for measure in measures where measure.library == "notes-lsp" && done.insert(measure.trace + measure.name).inserted {
      let cells = libraries.map { column in " \(cell(column.0, of: measure)) |" }.joined()
      lines.append("| \(measure.trace) | `\(measure.name)` | \(measure.unit) |" + cells)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func cell(_ library: String, of ours: Measure) -> String {
    let found = measures.first { $0.library == library && $0.trace == ours.trace && $0.name == ours.name }
    guard let found else { return "–" }
    let figure = found.value >= 100 ? String(format: "%.0f", found.value) : String(format: "%.3g", found.value)
    if library == ours.library { return "**\(figure)**" }
    guard ours.value > 0 else { return figure }
    return "\(figure) (×\(String(format: "%.2g", found.value / ours.value)))"
  }
}

/// A label for each line of a text: the last author, and the time. All labels have the same width.
struct BlameLabels {
  let texts: [String]
  /// The authors' color numbers; -1 for a line without text.
  let colors: [Int]

  /// - Parameters:
  ///   - spans: in the order of the text.
  ///   - range: the lines that are labelled.
  init(of spans: [Blame.Span], in range: PositionRange, width: Int, _ time: ScreenTime) {
    let end = spans.last.map { $0.range.end.character > 0 ? $0.range.end.line + 1 : $0.range.end.line } ?? 0
    let first = range.start.line
    var latest = [Blame.Span?](repeating: nil, count: max(0, end - first))
    for span in spans {
      let last = span.range.end.character > 0 ? span.range.end.line : span.range.end.line - 1
      for line in max(first, span.range.start.line)...max(first, span.range.start.line, last)
      where latest.indices.contains(line - first) {
        if latest[line - first].map({ $0.time < span.time }) ?? true { latest[line - first] = span }
      }
    }
    colors = latest.map { $0?.color ?? -1 }
    texts = latest.map { span in
      guard let span else { return String(repeating: " ", count: width) }
      let when = time.short(span.time)
      let name = DisplayWidth.cut(OneLine.shown(span.author), to: max(1, width - when.count - 1))
      return name + String(repeating: " ", count: max(1, width - DisplayWidth.of(name) - when.count)) + when
    }
  }
}

import Foundation

/// The progress of a command that works through many things, on standard error: a bar on a terminal, some lines
/// elsewhere. Shows nothing if there is little to do.
struct Progress {
  /// A bar for fewer things would disappear before anyone could read it.
  static let minimumOnTerminal = 20
  static let minimumElsewhere = 100
  private static let barWidth = 30

  private let what: String
  private let total: Int
  private let isTerminal: Bool
  private var count = 0

  /// - Parameters:
  ///   - what: what the command does, as "Importing"
  ///   - total: how many things there are
  init(_ what: String, total: Int, isTerminal: Bool = isatty(STDERR_FILENO) == 1) {
    (self.what, self.total, self.isTerminal) = (what, total, isTerminal)
    if isTerminal { write(line()) }
  }

  /// Call when one more is done.
  mutating func step() {
    let before = count * 100 / max(total, 1)
    count += 1
    let percent = count * 100 / max(total, 1)
    guard percent != before else { return }
    if isTerminal {
      write(line())
    } else if total >= Self.minimumElsewhere, percent / 10 != before / 10 {
      write("\(what): \(count) of \(total)\n")
    }
  }

  /// Removes the bar, so that the next output is on a line of its own.
  func end() {
    if isTerminal, total >= Self.minimumOnTerminal { write("\r\u{1B}[K") }
  }

  /// The bar, which replaces the previous one; empty if there is little to do.
  private func line() -> String {
    guard total >= Self.minimumOnTerminal else { return "" }
    let filled = count * Self.barWidth / total
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barWidth - filled)
    return "\r\(what) [\(bar)] \(count) of \(total)"
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

import Foundation

/// The progress of a command that takes a while, on standard error: a bar on a terminal, some lines elsewhere. Shows nothing
/// if there is little to do.
struct Progress {
  /// What is counted.
  enum Unit {
    case things, bytes, percent

    /// A bar for less would disappear before anyone could read it.
    fileprivate var minimumOnTerminal: Int {
      switch self {
      case .things: 20
      case .bytes: 4_000_000
      case .percent: 1
      }
    }

    fileprivate var minimumElsewhere: Int {
      switch self {
      case .things: 100
      case .bytes: 50_000_000
      case .percent: 1
      }
    }

    fileprivate func text(_ count: Int, of total: Int) -> String {
      switch self {
      case .things: "\(count) of \(total)"
      case .bytes: "\(count / 1_000_000) of \(total / 1_000_000) MB"
      case .percent: "\(count)%"
      }
    }
  }

  private static let barWidth = 30

  private let what: String
  private let total: Int
  private let unit: Unit
  private let isTerminal: Bool
  private let write: (String) -> Void
  private var count = 0

  /// - Parameters:
  ///   - what: what the command does, as "Importing"
  ///   - total: how much there is
  init(
    _ what: String, total: Int, _ unit: Unit = .things, isTerminal: Bool = isatty(STDERR_FILENO) == 1,
    write: @escaping (String) -> Void = Output.writeError
  ) {
    (self.what, self.total, self.unit, self.isTerminal, self.write) = (what, total, unit, isTerminal, write)
    if isTerminal { write(line) }
  }

  /// Call when one more is done.
  mutating func step() { reach(count + 1) }

  /// Call when this much is done.
  mutating func reach(_ count: Int) {
    let before = percent
    self.count = count
    guard percent != before else { return }
    if isTerminal {
      write(line)
    } else if total >= unit.minimumElsewhere, percent / 10 != before / 10 {
      write("\(what): \(unit.text(count, of: total))\n")
    }
  }

  private var percent: Int { count * 100 / max(total, 1) }

  /// Removes the bar, so that the next output is on a line of its own.
  func end() {
    if isTerminal, total >= unit.minimumOnTerminal { write("\r\u{1B}[K") }
  }

  /// The bar, which replaces the previous one; empty if there is little to do.
  private var line: String {
    guard total >= unit.minimumOnTerminal else { return "" }
    let filled = min(Self.barWidth, count * Self.barWidth / total)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barWidth - filled)
    return "\r\(what) [\(bar)] \(unit.text(count, of: total))"
  }
}

import Foundation
import TestSupport

/// A client of a tmux server in its control mode, which answers one command after the other. A test looks at a screen many
/// times, and starting a client for each look took more processor time than the editors.
///
/// An answer stands between `%begin TIME NUMBER FLAGS` and `%end` or `%error` with the same figures; with flags of 1, it
/// answers a command that we have sent. What stands outside of these are news, which we do not need.
final class ControlClient {
  private let process: ChildProcess

  /// Attaches to the server's session. Neither sizes its window nor is told what its program prints.
  init(_ socket: String) throws {
    process = try ChildProcess(["tmux", "-S", socket, "-u", "-C", "attach-session", "-f", "ignore-size,no-output"])
  }

  /// What the server answers to a command in tmux's language, one line a row.
  func answer(to command: String) throws -> String {
    process.write(Array((command + "\n").utf8))
    let (_, number) = try line { $0.hasPrefix("%begin ") && $0.hasSuffix(" 1") }
    let figures = number.dropFirst("%begin".count)
    let (lines, end) = try line { $0 == "%end" + figures || $0 == "%error" + figures }
    guard end.hasPrefix("%end") else {
      throw ProcessError.ended(waitingFor: "tmux \(command)", details: lines.joined(separator: "\n"))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The lines before the first one that is looked for, and that one. Takes them out of the output.
  private func line(where isLookedFor: (String) -> Bool) throws -> (before: [String], found: String) {
    var before: [String] = []
    while true {
      try process.wait(for: "an answer of tmux", until: .now + Patience.hang) { $0.output.contains(0x0A) }
      while let end = process.output.firstIndex(of: 0x0A) {
        let line = String(decoding: process.output[..<end], as: UTF8.self)
        process.output.removeSubrange(...end)
        if isLookedFor(line) { return (before, line) }
        before.append(line)
      }
    }
  }
}

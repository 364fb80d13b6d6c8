import ArgumentParser
import Automerge
import Foundation
import TestSupport

/// What a replay or a load costs in memory, in a process of its own.
struct MemoryProbe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory-probe", abstract: "Measures the memory of one replay or load.", shouldDisplay: false)

  @Argument(help: "A trace to replay, or a saved document to load.")
  var path: String

  func run() throws {
    let trace = path.hasSuffix(".json.gz") ? try EditingTrace(contentsOf: path) : nil
    let saved = trace == nil ? try Data(contentsOf: URL(fileURLWithPath: path)) : Data()
    // What a first edit sets up once is not what is measured, nor the highest mark of reading the trace.
    let warm = try WrittenText()
    try warm.document.spliceText(obj: warm.text, start: 0, delete: 0, value: "x")
    _ = try WrittenText(loading: warm.document.save())
    let before = try Self.beginGrowth()
    let written = try trace?.replay(committingEach: true) ?? WrittenText(loading: saved, verification: .deferred)
    if trace == nil { _ = try written.document.text(obj: written.text) }
    print(try Self.growth(since: before))
  }

  /// Forgets the highest mark so far; returns the memory that this process has now, in KiB.
  static func beginGrowth() throws -> Int {
    returnFreeMemory()
    try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    return try kibibytes("VmRSS")
  }

  /// How much more this process had at most since then, in KiB.
  static func growth(since before: Int) throws -> Int { try kibibytes("VmHWM") - before }

  /// Gives what reading the trace has freed back to the system, so that growth is growth (glibc's `malloc_trim`).
  private static func returnFreeMemory() {
    typealias Trim = @convention(c) (Int) -> Int32
    guard let symbol = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: Trim.self)(0)
  }

  /// A figure of this process. Source: proc(5), "/proc/pid/status".
  private static func kibibytes(_ field: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    for line in status.split(separator: "\n") where line.hasPrefix(field + ":") {
      if let figure = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) }) {
        return figure
      }
    }
    throw TraceError.unreadable("/proc/self/status")
  }

  /// The peak growth of a fresh process of this program.
  static func peak(of path: String) throws -> Double { try peak(["memory-probe", path]) }

  /// What a fresh process of this program prints with these arguments.
  static func peak(_ arguments: [String]) throws -> Double {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let run = try ChildProcess.run([program] + arguments, within: .seconds(120))
    guard run.exit == .code(0),
      let figure = Double(String(decoding: run.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    else { throw TraceError.unreadable(arguments.joined(separator: " ")) }
    return figure
  }
}

import ArgumentParser
import Automerge
import Foundation
import TestSupport

/// How costs grow with the number of edits: random editing at one size after the other, drawn as a plot.
struct GrowthPlot: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "growth", abstract: "The cost of an edit over documents of growing size, as an SVG plot.")

  @Option(parsing: .upToNextOption, help: "How many edits, ascending.")
  var sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]

  @Option(help: "Where to write the plot.")
  var plot = "growth.svg"

  @OptionGroup var output: OutputOptions

  func run() throws {
    var lines = ["edit, typing in runs", "save", "load", "load, verified", "keystroke, sent", "keystroke, received"].map
    {
      LogLogPlot.Line(name: $0, points: [])
    }
    for size in sizes {
      for (place, nanoseconds) in try measure(size).enumerated() {
        lines[place].points.append((Double(size), nanoseconds))
      }
    }
    let drawing = LogLogPlot(
      title: "Processor time per edit", horizontal: "edits in the document", vertical: "nanoseconds per edit",
      lines: lines)
    try drawing.svg.write(toFile: plot, atomically: true, encoding: .utf8)
  }

  /// Nanoseconds per edit for writing, saving, loading and loading with verification, and per keystroke that is then sent and
  /// received.
  private func measure(_ size: Int) throws -> [Double] {
    func time<Result>(_ name: String, _ work: () throws -> Result) rethrows -> (Result, Double) {
      let start = processorMilliseconds()
      let result = try work()
      let milliseconds = processorMilliseconds() - start
      Measure(trace: "\(size) edits", name: name, samples: [milliseconds]).print(asJSON: output.json)
      return (result, milliseconds)
    }
    let (written, writing) = try time("edit") { try Self.write(size) }
    _ = written.document.heads()
    let (saved, saving) = time("save") { written.document.save() }
    let (_, loading) = try time("load_and_read_text") {
      let loaded = try WrittenText(loading: saved, verification: .deferred)
      return try loaded.document.text(obj: loaded.text).utf8.count
    }
    let (reader, verifying) = try time("load_verified") { try WrittenText(loading: saved) }
    let parts = [writing, saving, loading, verifying].map { $0 * 1_000_000 / Double(size) }
    return try parts + keystrokes(written, reader.document, size)
  }

  /// Nanoseconds per keystroke, sent and received, with another document that has the same text.
  private func keystrokes(_ written: WrittenText, _ reader: Document, _ size: Int) throws -> [Double] {
    var live = try LiveKeystrokes(writer: written, reader: reader)
    var typist = Typist(length: Int(written.document.length(obj: written.text)), seed: 8)
    let now = Date(timeIntervalSince1970: 0), count = 10_000
    for _ in 0..<count { try live.press(at: now) { try typist.press(in: written) } }
    let (sent, received) = (Double(live.sending) / Double(count), Double(live.receiving) / Double(count))
    Measure(trace: "\(size) edits", name: "live_send_each", unit: "µs", samples: [sent / 1000]).print(
      asJSON: output.json)
    Measure(trace: "\(size) edits", name: "live_receive_each", unit: "µs", samples: [received / 1000])
      .print(asJSON: output.json)
    return [sent, received]
  }

  private static func write(_ size: Int) throws -> WrittenText {
    let written = try WrittenText(), now = Date(timeIntervalSince1970: 0)
    var typist = Typist(length: 0, seed: 7)
    for _ in 0..<size {
      try typist.press(in: written)
      written.document.commitWith(timestamp: now)
    }
    return written
  }
}

/// Types and deletes at random places, about twenty letters at each.
private struct Typist {
  private var random: SeededGenerator
  private var place = 0, length: Int, left = 0, isDeleting = false

  init(length: Int, seed: UInt64) { (self.length, random) = (length, SeededGenerator(seed: seed)) }

  /// Types or deletes one letter.
  mutating func press(in written: WrittenText) throws {
    if left == 0 {
      place = Int.random(in: 0...length, using: &random)
      left = Int.random(in: 1...40, using: &random)
      isDeleting = Int.random(in: 0..<4, using: &random) == 0
    }
    left -= 1
    if isDeleting, place > 0 {
      place -= 1
      length -= 1
      try written.document.spliceText(obj: written.text, start: UInt64(place), delete: 1, value: nil)
    } else {
      try written.document.spliceText(obj: written.text, start: UInt64(place), delete: 0, value: "x")
      place += 1
      length += 1
    }
  }
}

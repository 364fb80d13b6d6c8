import ArgumentParser
import AutomergeRepo
import Foundation
import SQLiteStorage

/// Opening the text of a long history from a store: with the texts that the store keeps, and with the history.
struct OpeningTexts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "opening", abstract: "Opening texts from a store, wall-clock time and memory.")

  @Argument(help: "Traces as NAME.json.gz, in the format of josephg/editing-traces.")
  var traces: [String]

  @OptionGroup var options: MeasureOptions

  @Option(help: .hidden)
  var probe: String?

  func run() async throws {
    for path in traces {
      if let probe { return try await Self.printGrowth(of: probe) }
      try await measure(EditingTrace(contentsOf: path), path)
    }
  }

  private func measure(_ trace: EditingTrace, _ path: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let set = MeasureSet(trace: trace.name, options)
    let store = try await SQLiteStore.open(directory: folder)
    let writer = Repo(storage: store)
    let id = try await writer.create(trace.replay(committingEach: true).document).id
    try await writer.shutDown(waitingForPeers: .zero)
    var kept: [Double] = [], history: [Double] = []
    for _ in 0..<max(options.repetitions, 1) {
      let reader = Repo(storage: store), other = Repo(storage: store)
      var start = ContinuousClock.now
      let text = try await reader.texts.text(of: id, at: "text")
      kept.append((ContinuousClock.now - start) / .milliseconds(1))
      start = .now
      let found = try await other.find(id: id)
      history.append((ContinuousClock.now - start) / .milliseconds(1))
      guard text == trace.endContent, try found.document.text(obj: WrittenText(document: found.document).text) == text
      else { throw TraceError.otherText(trace.name) }
    }
    set.add(Measure(trace: trace.name, name: "open_text", samples: kept))
    set.add(Measure(trace: trace.name, name: "open_document", samples: history))
    set.add(
      Measure(
        trace: trace.name, name: "mem_open_text_peak", unit: "KiB",
        samples: [try MemoryProbe.peak(["opening", path, "--probe", "\(folder.path):\(id)"])]))
  }

  /// In a process of its own: how much memory grows when the text is read.
  private static func printGrowth(of place: String) async throws {
    guard let colon = place.lastIndex(of: ":"), let id = DocumentId(String(place[place.index(after: colon)...])) else {
      throw ValidationError("a folder, a colon and an id")
    }
    let store = try await SQLiteStore.open(directory: URL(fileURLWithPath: String(place[..<colon])))
    let repo = Repo(storage: store)
    // What the first reading of a store sets up is not what is measured.
    _ = try await repo.texts.text(of: DocumentId(), at: "text")
    let before = try MemoryProbe.beginGrowth()
    guard try await repo.texts.text(of: id, at: "text") != nil else { throw TraceError.otherText(place) }
    print(try MemoryProbe.growth(since: before))
  }
}

import Foundation
import JSONRPC
import TestSupport

/// Runs the same measures with other libraries, through the programs that drive them.
struct PeerRun {
  let shared: String
  let python: String

  /// What a driver's measure is called here; others are left out.
  private static let names = [
    "live_send_each": "live_send_each", "live_receive_each": "live_receive_each",
    "local_txn_each": "local_txn_each", "local_one_txn": "local_one_txn", "save_updates": "save",
    "save_update_v1_gc": "save", "size_updates": "size", "size_update_v1_gc": "size",
    "save_update_v1": "save", "size_update_v1": "size", "save": "save", "size": "size",
    "load_snapshot_and_read_text": "load_and_read_text", "load_updates_and_read_text": "load_verified",
    "load_update_v1_gc_and_read_text": "load_verified", "load_update_v1_and_read_text": "load_verified",
    "load_verified": "load_verified", "remote_each": "receive_each", "receive_batch": "receive_batch",
    "remote_batch_import_batch": "receive_batch", "remote_batch_one_transaction": "receive_batch",
    "mem_replay_peak": "mem_replay_peak", "mem_load_peak": "mem_load_peak",
    "live_session_all_agents": "live_session_all_agents", "offline_50000_merge_other_branch": "merge_offline_50k",
    "gap_buffer_replay": "local_txn_each", "read_text_file_cached": "load_and_read_text",
  ]

  func gapBuffer(_ traces: [String]) throws -> [Measure] {
    let temporary = try TemporaryDirectory()
    let folder = temporary.path
    _ = try output([python, "\(shared)/bench/trace_to_bin.py", "\(shared)/traces", folder])
    _ = try output(["gcc", "-O2", "-o", "\(folder)/floor", "\(shared)/bench/floor.c"])
    return try parse(output(["\(folder)/floor"] + traces.map { "\(folder)/\($0)" }), trace: nil)
  }

  func sequential(_ trace: String) -> [Measure] {
    let own = "Tests/Benchmarks/", path = "\(shared)/traces/\(trace).json.gz"
    let live = ["loro", "pycrdt", "automerge"].flatMap { library in
      measures([python, own + "live_bench.py", "--lib", library, path], trace: nil)
    }
    return live + driver(["--suite", "seq", "--trace", trace], trace: nil)
      + measures([python, own + "reference_bench.py", path], trace: nil)
  }

  func concurrent(_ trace: String) -> [Measure] {
    driver(["--suite", "conc", "--trace", trace], trace: "\(trace) (concurrent)")
  }

  func hard() -> [Measure] { driver(["--suite", "worst"], trace: "-") }

  private func driver(_ arguments: [String], trace: String?) -> [Measure] {
    ["loro", "pycrdt"].flatMap { library in
      measures(
        [python, "\(shared)/bench/peer_bench.py", "--lib", library, "--traces", "\(shared)/traces", "--json"]
          + arguments,
        trace: trace)
    }
  }

  /// What a driver measures. One that fails, or takes too long, is left out of the table, loudly.
  private func measures(_ command: [String], trace: String?) -> [Measure] {
    do {
      return try parse(output(command), trace: trace)
    } catch {
      FileHandle.standardError.write(Data("left out: \(error)\n".utf8))
      return []
    }
  }

  private func output(_ command: [String]) throws -> String {
    let run = try ChildProcess.run(command, within: .seconds(900))
    guard run.exit == .code(0) else {
      throw TraceError.failed(
        command.joined(separator: " "), String(decoding: run.errorOutput.suffix(500), as: UTF8.self))
    }
    return String(decoding: run.output, as: UTF8.self)
  }

  /// Measures from lines of JSON. Processor time counts where the driver tells it beside wall-clock time.
  private func parse(_ lines: String, trace: String?) throws -> [Measure] {
    try lines.split(separator: "\n").compactMap { line in
      let json = try JSONValue(parsing: Array(line.utf8), limits: JSONLimits())
      guard let measured = json["measure"]?.stringValue, let library = json["lib"]?.stringValue,
        let name = Self.names[measured] ?? Self.samePlace(measured), let unit = json["unit"]?.stringValue,
        let value = json["cpu"]?.doubleValue ?? json["value"]?.doubleValue
      else { return nil }
      var measure = Measure(trace: trace ?? json["trace"]?.stringValue ?? "-", name: name, unit: unit, samples: [value])
      measure.library = library
      measure.repetitions = json["reps"]?.intValue.map { Int($0) } ?? 1
      return measure
    }
  }

  /// "same_position_10000_inserts_10_peers_forward_merge_each" is "same_place_10_peers_forward_each" here.
  private static func samePlace(_ name: String) -> String? {
    let prefix = "same_position_10000_inserts_"
    guard name.hasPrefix(prefix), let merge = name.range(of: "_merge_") else { return nil }
    let isEach = name[merge.upperBound...] == "each"
    return "same_place_" + name[..<merge.lowerBound].dropFirst(prefix.count) + (isEach ? "_each" : "_batch")
  }
}

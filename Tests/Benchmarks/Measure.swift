import Foundation
import JSONRPC

/// One measured thing, printed as a line of columns or of JSON.
struct Measure {
  var suite: String
  var subject: String
  var name: String
  var unit = "ms"
  /// In the order in which they are printed.
  var values: [(name: String, value: Double)]

  func print(asJSON: Bool) {
    if asJSON {
      var line: JSONObject = [
        "lib": "notes-lsp", "suite": .string(suite), "trace": .string(subject), "measure": .string(name),
        "unit": .string(unit),
      ]
      for (name, value) in values { line[name] = .double((value * 1_000_000).rounded() / 1_000_000) }
      Swift.print(JSONValue.object(line))
    } else {
      let columns = values.map { "\($0.name) \(String(format: "%.3f", $0.value))" }.joined(separator: "  ")
      Swift.print("\(suite)  \(subject)  \(name)  \(columns)  \(unit)")
    }
    fflush(nil)
  }
}

/// Milliseconds of processor time that this process has used, all its threads together.
func processorMilliseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
}

extension [Double] {
  /// The value below which this part of the values lies; 0 without values.
  func percentile(_ part: Double) -> Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[Swift.min(Int(Double(sorted.count) * part), sorted.count - 1)]
  }
}

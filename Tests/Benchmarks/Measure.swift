import Foundation
import JSONRPC

/// One measured thing, printed as a line of columns or of JSON. Measures have the same names for every library.
struct Measure {
  var library = "notes-lsp"
  var trace: String
  var name: String
  var unit = "ms"
  /// The median.
  var value: Double
  var repetitions = 1
  var minimum: Double
  var maximum: Double
  /// What else is known of it, in the order in which it is printed.
  var more: [(name: String, value: Double)] = []

  /// The median of some samples.
  init(trace: String, name: String, unit: String = "ms", samples: [Double]) {
    (self.trace, self.name, self.unit) = (trace, name, unit)
    value = samples.percentile(0.5)
    repetitions = samples.count
    minimum = samples.min() ?? 0
    maximum = samples.max() ?? 0
  }

  func print(asJSON: Bool) {
    if asJSON {
      var line: JSONObject = [
        "lib": .string(library), "trace": .string(trace), "measure": .string(name), "unit": .string(unit),
        "reps": .int(Int64(repetitions)),
      ]
      for (name, value) in [("value", value), ("min", minimum), ("max", maximum)] + more {
        line[name] = .double((value * 1_000_000).rounded() / 1_000_000)
      }
      Swift.print(JSONValue.object(line))
    } else {
      let extras = more.map { "  \($0.name) \(String(format: "%.3f", $0.value))" }.joined()
      let range = String(format: "%.3f..%.3f, %d", minimum, maximum, repetitions)
      Swift.print("\(trace)  \(name)  \(String(format: "%.3f", value)) \(unit)  (\(range))\(extras)")
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

import AutomergeRepo

/// A page of metrics in Prometheus' text format, version 0.0.4.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/
public struct MetricsText: Sendable {
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The whole page.
  public private(set) var text = ""

  public init() {}

  /// A number that goes up and down.
  public mutating func gauge(_ name: String, _ help: String, _ value: Double) {
    head(name, "gauge", help)
    sample(name, value: value)
  }

  /// A number that only increases, as one sample for each value of a label.
  public mutating func counter(_ name: String, _ help: String, by label: String, _ values: [(String, Int)]) {
    head(name, "counter", help)
    for (value, count) in values { sample(name, [(label, value)], value: Double(count)) }
  }

  /// A number that goes up and down, as one sample for each value of a label.
  public mutating func gauge(_ name: String, _ help: String, by label: String, _ values: [(String, Int)]) {
    head(name, "gauge", help)
    for (value, count) in values { sample(name, [(label, value)], value: Double(count)) }
  }

  /// Durations, in seconds.
  public mutating func histogram(_ name: String, _ help: String, _ times: LatencyHistogram) {
    head(name, "histogram", help)
    var count = 0
    for (index, bound) in times.bounds.enumerated() {
      count += times.counts[index]
      sample(name + "_bucket", [("le", Self.number(bound / .seconds(1)))], value: Double(count))
    }
    sample(name + "_bucket", [("le", "+Inf")], value: Double(times.count))
    sample(name + "_sum", value: times.sum / .seconds(1))
    sample(name + "_count", value: Double(times.count))
  }

  private mutating func head(_ name: String, _ kind: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
  }

  private mutating func sample(_ name: String, _ labels: [(String, String)] = [], value: Double) {
    let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    text += name + (list.isEmpty ? "" : "{\(list)}") + " \(Self.number(value))\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 0x1p53 ? String(Int(value)) : String(value)
  }
}

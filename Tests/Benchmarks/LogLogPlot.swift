import Foundation

/// Lines over two logarithmic axes, drawn as SVG.
struct LogLogPlot {
  struct Line {
    let name: String
    /// Ascending; all numbers are greater than zero.
    var points: [(x: Double, y: Double)]
  }

  let title: String
  let horizontal: String
  let vertical: String
  let lines: [Line]

  private static let size = (width: 760.0, height: 460.0)
  private static let frame = (left: 80.0, top: 50.0, right: 570.0, bottom: 400.0)
  private static let colors = ["#0a5", "#28d", "#d50", "#a4a", "#777", "#a80"]

  /// For a light page and for a dark one. The lines' own colours can be read on both.
  private static let style =
    "<style>rect{fill:#fff}text{fill:#222}line{stroke:#ddd}@media(prefers-color-scheme:dark)"
    + "{rect{fill:#0d1117}text{fill:#ddd}line{stroke:#333}}</style>"

  /// The powers of ten that enclose the values.
  private static func decades(_ values: [Double]) -> ClosedRange<Int> {
    let logarithms = values.map { log10(max($0, 0.001)) }
    let low = Int((logarithms.min() ?? 0).rounded(.down)), high = Int((logarithms.max() ?? 1).rounded(.up))
    return low...max(high, low + 1)
  }

  var svg: String {
    let points = lines.flatMap(\.points)
    let across = Self.decades(points.map(\.x)), up = Self.decades(points.map(\.y))
    let frame = Self.frame
    func x(_ value: Double) -> Double {
      frame.left + (log10(max(value, 0.001)) - Double(across.lowerBound)) / Double(across.count - 1)
        * (frame.right - frame.left)
    }
    func y(_ value: Double) -> Double {
      frame.bottom - (log10(max(value, 0.001)) - Double(up.lowerBound)) / Double(up.count - 1)
        * (frame.bottom - frame.top)
    }
    func text(_ words: String, _ x: Double, _ y: Double, _ more: String = "") -> String {
      "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" \(more)>\(words)</text>"
    }
    var parts = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Self.size.width) \(Self.size.height)\""
        + " font-family=\"sans-serif\" font-size=\"13\">" + Self.style + "<rect width=\"100%\" height=\"100%\"/>",
      text(title, frame.left, 28, "font-size=\"17\""),
      text(horizontal, (frame.left + frame.right) / 2, 440, "text-anchor=\"middle\""),
      text(vertical, 0, 0, "transform=\"translate(20 225) rotate(-90)\" text-anchor=\"middle\""),
    ]
    for power in across {
      let at = x(pow(10, Double(power)))
      parts.append(Self.rule(at, frame.top, at, frame.bottom))
      parts.append(text(Self.label(power), at, 418, "text-anchor=\"middle\""))
    }
    for power in up {
      let at = y(pow(10, Double(power)))
      parts.append(Self.rule(frame.left, at, frame.right, at))
      parts.append(text(Self.label(power), 72, at + 4, "text-anchor=\"end\""))
    }
    for (number, line) in lines.enumerated() {
      let color = Self.colors[number % Self.colors.count]
      let places = line.points.map { "\(Self.number(x($0.x))),\(Self.number(y($0.y)))" }.joined(separator: " ")
      parts.append("<polyline points=\"\(places)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>")
      let at = frame.top + 20 * Double(number + 1)
      parts.append(text(line.name, frame.right + 14, at, "style=\"fill:\(color)\""))
    }
    return parts.joined(separator: "\n") + "\n</svg>\n"
  }

  private static func number(_ value: Double) -> String { String(format: "%.1f", value) }

  private static func label(_ power: Int) -> String {
    power >= 0 && power < 16 ? String(Int(pow(10, Double(power)))) : "1e\(power)"
  }

  private static func rule(_ fromX: Double, _ fromY: Double, _ toX: Double, _ toY: Double) -> String {
    "<line x1=\"\(number(fromX))\" y1=\"\(number(fromY))\" x2=\"\(number(toX))\" y2=\"\(number(toY))\"/>"
  }
}

import Cryptography
import Foundation
import JSONRPC

extension ModelText {
  /// The SHA-256 of the text as `notes/check` writes it.
  public var sha256: String { SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined() }

  /// The bytes of an LSP range whose ends are exactly places between scalars; nil for every other range.
  public func byteRange(_ range: JSONValue?) -> Range<Int>? {
    guard let start = byteOffset(range?["start"]), let end = byteOffset(range?["end"]), start <= end else { return nil }
    return start..<end
  }

  private func byteOffset(_ json: JSONValue?) -> Int? {
    guard let line = json?["line"]?.intValue, let character = json?["character"]?.intValue else { return nil }
    let position = Position(line: line, character: character)
    let offset = offset(of: position)
    return self.position(at: offset) == position ? offset : nil
  }

  public func jsonRange(_ range: Range<Int>) -> JSONValue {
    func json(_ offset: Int) -> JSONValue {
      let position = position(at: offset)
      return ["line": JSONValue(position.line), "character": JSONValue(position.character)]
    }
    return ["start": json(range.lowerBound), "end": json(range.upperBound)]
  }

  /// Applies the edits of a `notes/edit`. Returns what is wrong with it, if anything; then the text may be unchanged.
  public mutating func applyServerEdit(_ params: JSONValue) -> String? {
    var ranges: [(Range<Int>, String)] = []
    var end = 0
    for edit in params["edits"]?.arrayValue ?? [] {
      guard let range = byteRange(edit["range"]), let newText = edit["newText"]?.stringValue, range.lowerBound >= end
      else { return "edits out of order or off the text: \(params)" }
      end = range.upperBound
      ranges.append((range, newText))
    }
    for (range, newText) in ranges.reversed() { replace(range, with: newText) }
    return params["bytes"]?.intValue == bytes.count ? nil : "\(bytes.count) bytes after \(params)"
  }

  /// Applies the `contentChanges` of a `didChange`; positions off the text are clamped.
  public mutating func applyContentChanges(_ changes: JSONValue?) {
    for change in changes?.arrayValue ?? [] {
      let newText = change["text"]?.stringValue ?? ""
      if let range = change["range"] {
        let (start, end) = (clampedOffset(range["start"]), clampedOffset(range["end"]))
        replace(min(start, end)..<max(start, end), with: newText)
      } else {
        self = ModelText(newText, encoding: encoding)
      }
    }
  }

  private func clampedOffset(_ json: JSONValue?) -> Int {
    offset(of: Position(line: json?["line"]?.intValue ?? 0, character: json?["character"]?.intValue ?? 0))
  }
}

/// The parameters of a message, read field by field; an error is an `InvalidParams` that names the field.
///
///     let document = try params.object("textDocument")
///     let uri = try document.string("uri")            // "textDocument.uri" must be a string.
///     let rev = try params.objectIfPresent("notes")?.int("rev")
///     for change in try params.array("contentChanges") { … change.string("text") … }
///
/// The `…IfPresent` forms return `nil` for a missing or `null` field and still refuse one of the wrong kind.
public struct Parameters: Sendable {
  public let value: JSONValue
  private let path: Path?

  /// The path from the message's `params` to this value; made into text only if an error needs it.
  private indirect enum Path: Sendable {
    case field(String, of: Path?)
    case element(Int, of: Path?)

    var text: String {
      switch self {
      case .field(let name, nil): name
      case .field(let name, let parent?): "\(parent.text).\(name)"
      case .element(let index, let parent): "\(parent?.text ?? "params")[\(index)]"
      }
    }
  }

  public init(_ value: JSONValue?) {
    self.init(value: value ?? .null, path: nil)
  }

  private init(value: JSONValue, path: Path?) {
    self.value = value
    self.path = path
  }

  /// Whether the field exists and is not `null`.
  public func has(_ field: String) -> Bool { present(field) != nil }

  public func string(_ field: String) throws(ResponseError) -> String {
    try required(field, "a string", try stringIfPresent(field))
  }

  public func stringIfPresent(_ field: String) throws(ResponseError) -> String? {
    try convert(field, "a string") { $0.stringValue }
  }

  public func bool(_ field: String) throws(ResponseError) -> Bool {
    try required(field, "true or false", try boolIfPresent(field))
  }

  public func boolIfPresent(_ field: String) throws(ResponseError) -> Bool? {
    try convert(field, "true or false") { $0.boolValue }
  }

  public func int(_ field: String) throws(ResponseError) -> Int {
    try required(field, "an integer", try intIfPresent(field))
  }

  public func intIfPresent(_ field: String) throws(ResponseError) -> Int? {
    try convert(field, "an integer") { $0.intValue }
  }

  /// LSP's `uinteger`, as in lines and columns; larger numbers than LSP allows are accepted too.
  public func nonNegativeInt(_ field: String) throws(ResponseError) -> Int {
    try required(field, "an integer from 0 up", try nonNegativeIntIfPresent(field))
  }

  public func nonNegativeIntIfPresent(_ field: String) throws(ResponseError) -> Int? {
    try convert(field, "an integer from 0 up") { value in value.intValue.flatMap { $0 >= 0 ? $0 : nil } }
  }

  /// One of an enumeration's raw values.
  public func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ field: String, as type: Choice.Type = Choice.self
  ) throws(ResponseError) -> Choice {
    try required(field, Self.listing(type), try choiceIfPresent(field, as: type))
  }

  public func choiceIfPresent<Choice: RawRepresentable<String> & CaseIterable>(
    _ field: String, as type: Choice.Type = Choice.self
  ) throws(ResponseError) -> Choice? {
    guard has(field) else { return nil }
    return try convert(field, Self.listing(type)) { $0.stringValue.flatMap(Choice.init(rawValue:)) }
  }

  public func object(_ field: String) throws(ResponseError) -> Parameters {
    try required(field, "an object", try objectIfPresent(field))
  }

  public func objectIfPresent(_ field: String) throws(ResponseError) -> Parameters? {
    try convert(field, "an object") {
      $0.objectValue == nil ? nil : Parameters(value: $0, path: .field(field, of: path))
    }
  }

  /// An array of objects.
  public func array(_ field: String) throws(ResponseError) -> [Parameters] {
    try required(field, "an array", try arrayIfPresent(field))
  }

  public func arrayIfPresent(_ field: String) throws(ResponseError) -> [Parameters]? {
    guard let elements = try convert(field, "an array", { $0.arrayValue }) else { return nil }
    let arrayPath = Path.field(field, of: path)
    var all: [Parameters] = []
    all.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      let elementPath = Path.element(index, of: arrayPath)
      guard case .object = element else { throw .invalidParams("\"\(elementPath.text)\" must be an object.") }
      all.append(Parameters(value: element, path: elementPath))
    }
    return all
  }

  public func strings(_ field: String) throws(ResponseError) -> [String] {
    try required(field, "an array of strings", try stringsIfPresent(field))
  }

  public func stringsIfPresent(_ field: String) throws(ResponseError) -> [String]? {
    try convert(field, "an array of strings") { value in
      guard let elements = value.arrayValue else { return nil }
      let strings = elements.compactMap(\.stringValue)
      return strings.count == elements.count ? strings : nil
    }
  }

  /// An `InvalidParams` about a field, for faults other than a wrong kind: `"range.end" must not be before its start.`
  public func invalid(_ field: String, _ predicate: String) -> ResponseError {
    .invalidParams("\"\(Path.field(field, of: path).text)\" \(predicate).")
  }

  private func present(_ field: String) -> JSONValue? {
    guard let value = value[field], !value.isNull else { return nil }
    return value
  }

  private func convert<T>(_ field: String, _ kind: String, _ read: (JSONValue) -> T?) throws(ResponseError) -> T? {
    guard let value = present(field) else { return nil }
    guard let converted = read(value) else { throw invalid(field, "must be \(kind)") }
    return converted
  }

  private func required<T>(_ field: String, _ kind: @autoclosure () -> String, _ value: T?) throws(ResponseError) -> T {
    guard let value else { throw invalid(field, "is missing; it must be \(kind())") }
    return value
  }

  private static func listing<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> String {
    Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
  }
}

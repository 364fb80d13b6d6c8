import AutomergeRepo

/// The one name of this person, in all their processes and for all other people, kept in the store.
///
/// The name set last counts: by `notes/setName`, or by a setting that has changed since it was last read. So an old
/// setting does not undo a chosen name at the next start, and two editors with different settings do not alternate.
/// Until a name is set, it is the login name, which is not stored.
public struct PersonName: Hashable, Sendable {
  /// The source of a name.
  public enum Source: Hashable, Sendable {
    /// `--name` or `NOTES_NAME`.
    case option
    /// `userName` in `initialize`; `client` is its first word, such as "vim".
    case editor(client: String)

    fileprivate var key: String {
      switch self {
      case .option: "option"
      case .editor(let client): "editor " + client.prefix(PersonName.maximumScalars)
      }
    }
  }

  static let storageKey: StorageKey = ["person-name"]
  static let maximumScalars = 80
  private static let maximumSettings = 16

  public private(set) var name: String
  /// False while it is the login name.
  public private(set) var isGiven = false
  /// Whether this person does not want to be visible on the local network.
  public internal(set) var isHidden = false
  /// The last name from each setting.
  private var settings: [String: String] = [:]

  public init(login: String) { name = login }

  /// Begins with the stored name, or the login name, and then applies the option.
  ///
  /// - Parameter option: the value of `--name` or `NOTES_NAME`; nil if neither is given
  public static func load(
    from storage: any StorageProvider, option: String?, login: String
  ) async throws(StorageError) -> (name: PersonName, isChanged: Bool) {
    var result = PersonName(login: login)
    if let record = try await storage.record(at: storageKey) { result.take(record) }
    let isChanged = option.map { result.set($0, by: .option) } ?? false
    return (result, isChanged)
  }

  /// Sets the name that the person chose. Returns false if it is empty, or contains nothing that can be shown.
  @discardableResult
  mutating func choose(_ name: String) -> Bool {
    guard let name = Self.clean(name) else { return false }
    (self.name, isGiven) = (name, true)
    return true
  }

  /// Sets the name from a setting. Returns whether anything has changed.
  mutating func set(_ name: String, by source: Source) -> Bool {
    guard let name = Self.clean(name), settings[source.key] != name else { return false }
    if settings.count >= Self.maximumSettings { settings = [:] }
    settings[source.key] = name
    return choose(name)
  }

  var record: CBOR {
    let settings = settings.sorted { $0.key < $1.key }.map { CBOR.Entry(.text($0.key), .text($0.value)) }
    return .record(["name": .text(name), "settings": .map(settings), "hidden": isHidden ? .bool(true) : nil])
  }

  /// Adopts the name in the store, or that of another process of this person.
  mutating func take(_ record: CBOR) {
    guard let name = record["name"]?.text, choose(name) else { return }
    isHidden = record["hidden"]?.bool ?? false
    guard case .map(let entries)? = record["settings"] else { return }
    settings = [:]
    for entry in entries.prefix(Self.maximumSettings) {
      if let key = entry.key.text { settings[key] = entry.value.text.flatMap(Self.clean) }
    }
  }

  /// One line of limited length without control characters; nil if nothing is left.
  private static func clean(_ name: String) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars.prefix(maximumScalars) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: break
      default: scalars.append(scalar)
      }
    }
    let text = String(scalars)
    guard let first = text.firstIndex(where: { $0 != " " }), let last = text.lastIndex(where: { $0 != " " }) else {
      return nil
    }
    return String(text[first...last])
  }
}

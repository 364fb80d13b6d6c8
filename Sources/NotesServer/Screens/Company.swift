import JSONRPC

/// What a person should know about a note, in words for a status line, the most urgent first: whether it is stored and may be
/// edited, the state of its file and of other people's copies, and of the network. An editor joins the pieces.
///
/// A status line may call a person in sync only with the exact text of the buffer, which the editor alone knows. So one
/// piece has two wordings: one for that text, and one for a later text.
struct Company {
  /// More people than this are counted.
  private static let maximumNames = 3
  private static let maximumNameLength = 16
  private static let maximumReasonLength = 40

  private var pieces: [JSONValue] = []
  private let isReadOnly: Bool

  /// - Parameters:
  ///   - unstored: why the note is not stored; empty if that is not known, nil if it is stored
  ///   - network: `on`, `off`, or why there is none
  init(
    _ people: [PersonStatus], unstored: String? = nil, isReadOnly: Bool = false, hasTextFile: Bool = true,
    network: String = "on"
  ) {
    self.isReadOnly = isReadOnly
    if let unstored { say(unstored.isEmpty ? "not stored" : "not stored: \(unstored)") }
    if isReadOnly { say("read-only") }
    if !hasTextFile { say("file not UTF-8") }
    let people = people.sorted { $0.person.name < $1.person.name }
    func named(_ state: PersonStatus.State) -> [PersonStatus] {
      // A person whose changes are still arriving here lacks nothing.
      people.filter { $0.state == state && !($0.percentReceived != nil && $0.pending == 0) }
    }
    let behind = named(.behind)
    let pending = NoteNews.number(max(1, behind.map(\.pending).max() ?? 0), "change")
    add("refused by ", named(.refused))
    add("receiving from ", people.filter { $0.percentReceived != nil }, showsPercent: true)
    add("\(pending) not yet sent to ", behind)
    let away = named(.unreachable)
    add("", away, after: " " + ((away.count == 1 ? Self.refusal(away[0].person.problem) : nil) ?? "unreachable"))
    add("synced with ", whenLater: "sending to ", named(.inSync))
    if network != "on" { say(network == "off" ? "no network" : "no network: \(OneLine.shown(network))") }
  }

  private mutating func say(_ words: String) { add((pieces.isEmpty ? "" : "; ") + words) }

  /// Adds people in the same state, each name once.
  private mutating func add(
    _ before: String, whenLater: String? = nil, _ people: [PersonStatus], showsPercent: Bool = false,
    after: String = ""
  ) {
    guard !people.isEmpty else { return }
    let mark = pieces.isEmpty ? "" : "; "
    add(mark + before, whenLater: whenLater.map { mark + $0 })
    if people.count > Self.maximumNames {
      add("\(people.count) people")
    } else {
      var names: Set<String> = []
      for person in people where names.insert(person.person.name).inserted {
        if names.count > 1 { add(", ") }
        add(name: person.person.name)
        if !isReadOnly, person.limit == .readOnly { add(" (read-only)") }
        if showsPercent, let percent = person.percentReceived { add(" (\(percent)%)") }
      }
    }
    add(after)
  }

  private mutating func add(_ text: String, whenLater: String? = nil) {
    guard !text.isEmpty else { return }
    pieces.append(.object(present: ["text": .string(text), "whenLater": whenLater.map(JSONValue.string)]))
  }

  /// - Parameter name: the full name, by which the editor finds the caret. Its direction follows the piece.
  private mutating func add(name: String) {
    pieces.append(["text": .string(Self.shown(name, Self.maximumNameLength)), "name": .string(name)])
  }

  /// What a server that was reached does instead of taking part, such as "wants a token".
  private static func refusal(_ problem: String?) -> String? {
    let subject = "the server "
    guard let problem, problem.hasPrefix(subject) else { return nil }
    return shown(String(problem.dropFirst(subject.count)), maximumReasonLength)
  }

  private static func shown(_ words: String, _ length: Int) -> String {
    DisplayWidth.cut(OneLine.shown(words), to: length)
  }

  var json: JSONValue { .array(pieces) }
}

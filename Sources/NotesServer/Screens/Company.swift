import JSONRPC

/// The state of other people's copies of a note, and of its file, in words for a status line, the most urgent first: pieces
/// that an editor joins.
///
/// A status line may call a person in sync only with the exact text of the buffer, which the editor alone knows. So one
/// piece has two wordings: one for that text, and one for a later text.
struct Company {
  /// More people than this are counted.
  private static let maximumNames = 3
  private static let maximumNameLength = 16

  private var pieces: [JSONValue] = []

  init(_ people: [PersonStatus], hasTextFile: Bool = true) {
    if !hasTextFile { add("file not UTF-8") }
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
    add("", named(.unreachable), after: " unreachable")
    add("synced with ", whenLater: "sending to ", named(.inSync))
  }

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
    let shown = DisplayWidth.cut(OneLine.shown(name), to: Self.maximumNameLength)
    pieces.append(["text": .string(shown), "name": .string(name)])
  }

  var json: JSONValue { .array(pieces) }
}

import JSONRPC

/// How far the other people's copies of a note are, in words for a status line, the most urgent first.
///
/// A status line says that a person is in sync only of the exact text of the buffer, which the editor alone knows. So the people who
/// are have two texts: one for that text, and one for a later one.
struct Company {
  /// More people than this are counted.
  private static let maximumNames = 3
  private static let maximumNameLength = 16

  private let groups: [Group]

  /// People of whom the same is said.
  private struct Group {
    let before: String
    var after = ""
    /// Instead of `before`, if the text of the buffer is later than the status.
    var whenLater: String?
    let people: [Person]

    /// The people, each name once.
    private var named: [Person] {
      people.enumerated().filter { index, person in !people[..<index].contains { $0.name == person.name } }.map(
        \.element)
    }

    var json: JSONValue {
      var members: JSONObject = ["before": .string(before)]
      if !after.isEmpty { members["after"] = .string(after) }
      if let whenLater { members["whenLater"] = .string(whenLater) }
      if people.count > maximumNames {
        members["count"] = JSONValue(people.count)
      } else {
        members["people"] = .array(named.map(\.json))
      }
      return .object(members)
    }
  }

  private struct Person {
    let name: String
    var more = ""

    /// The full name, by which the editor finds the caret, and what is shown of it.
    var json: JSONValue {
      var members: JSONObject = [
        "name": .string(name), "shown": .string(DisplayWidth.cut(OneLine.shown(name), to: maximumNameLength)),
      ]
      if !more.isEmpty { members["more"] = .string(more) }
      return .object(members)
    }
  }

  init(_ people: [PersonStatus]) {
    let people = people.sorted { $0.person.name < $1.person.name }
    func named(_ state: PersonStatus.State) -> [Person] {
      // A person whose changes only arrive lacks nothing.
      people.filter { $0.state == state && !($0.percentReceived != nil && $0.pending == 0) }
        .map { Person(name: $0.person.name) }
    }
    let pending = people.filter { $0.state == .behind }.map(\.pending).max() ?? 0
    let receiving = people.compactMap { person in
      person.percentReceived.map { Person(name: person.person.name, more: " (\($0)%)") }
    }
    groups = [
      Group(before: "refused by ", people: named(.refused)),
      Group(before: "receiving from ", people: receiving),
      Group(before: "\(NoteNews.number(max(1, pending), "change")) not yet sent to ", people: named(.behind)),
      Group(before: "", after: " unreachable", people: named(.unreachable)),
      Group(before: "synced with ", whenLater: "sending to ", people: named(.inSync)),
    ].filter { !$0.people.isEmpty }
  }

  var json: JSONValue { .array(groups.map(\.json)) }
}

import JSONRPC

/// The content of a meeting's document as plain values: `{title, attendees, agendas: [{id, title, discussion}]}`.
struct MeetingContent: Hashable, Sendable {
  struct Item: Hashable, Sendable {
    var id: String
    var title: String
    var discussion: String
  }

  var title: String
  var attendees: [String]
  var agendas: [Item]

  init(title: String, attendees: [String], agendas: [Item]) {
    (self.title, self.attendees, self.agendas) = (title, attendees, agendas)
  }

  /// Nil if the object has no list of agenda items. Drops members of the wrong type.
  init?(_ json: JSONObject) {
    guard let agendas = json["agendas"]?.arrayValue else { return nil }
    title = json["title"]?.stringValue ?? ""
    attendees = json["attendees"]?.arrayValue?.compactMap(\.stringValue) ?? []
    self.agendas = agendas.enumerated().compactMap { index, item in
      guard item.objectValue != nil else { return nil }
      return Item(
        id: item["id"]?.stringValue ?? "\(index + 1)", title: item["title"]?.stringValue ?? "",
        discussion: item["discussion"]?.stringValue ?? "")
    }
  }

  var json: JSONValue {
    [
      "title": .string(title), "attendees": JSONValue(attendees),
      "agendas": .array(
        agendas.map {
          ["id": .string($0.id), "title": .string($0.title), "discussion": .string($0.discussion)]
        }),
    ]
  }

  /// The meeting as one Markdown text.
  var markdown: String {
    var text = "# \(title)\n"
    if !attendees.isEmpty { text += "\n" + attendees.map { "- \($0)\n" }.joined() }
    for item in agendas {
      text += "\n## \(item.title)\n"
      if !item.discussion.isEmpty { text += "\n" + item.discussion + (item.discussion.hasSuffix("\n") ? "" : "\n") }
    }
    return text
  }
}

import AutomergeRepo
import JSONRPC

/// Every line that others cause on this editor's screen passes here, so that none of them can fill it.
///
/// An event over the limit reaches the client at once, but without its message; the message follows within a minute unless
/// a newer one about the same subject replaces it.
@AutomergeRepo
final class LimitedNews {
  private let editor: Editor
  private var limit = NewsLimit<JSONValue>()

  init(_ editor: Editor) { self.editor = editor }

  /// The event to send: without its message if the peer that caused it has caused too many.
  func passed(_ event: JSONValue) -> JSONValue {
    guard case .object(var members) = event, event["message"] != nil, !Self.isOwn(event) else { return event }
    let now = editor.service.clock.now
    switch limit.verdict(on: event, about: Self.subject(of: event), of: Self.cause(of: event), at: now) {
    case .tell: return event
    case .hold(let peer):
      if let peer {
        _ = editor.service.clock.schedule(after: NewsLimit<JSONValue>.period) { [weak self] in self?.tellHeld(of: peer)
        }
      }
      members["message"] = nil
      return .object(members)
    }
  }

  private func tellHeld(of peer: String) {
    let summary = limit.summary(of: peer, at: editor.service.clock.now)
    for held in summary.held {
      if let event = current(held) { editor.send(event) }
    }
    guard summary.otherCount > 0 else { return }
    let name = peer.isEmpty ? "others" : summary.held.last?.line["name"]?.stringValue ?? "a peer"
    editor.send(
      repeated(["message": .string("\(summary.otherCount) more changes by \(NoteNews.cut(name, to: 29))")], count: 1))
  }

  /// The held event, updated to the present state; nil if it no longer applies.
  private func current(_ held: NewsLimit<JSONValue>.Held) -> JSONValue? {
    let event = held.line
    if let invitation = event["invitation"]?.stringValue {
      // The person may have answered from a list meanwhile: only what is still open can be answered.
      let isOpen = editor.service.sharing.invitations.contains { $0.invitation == invitation }
      return isOpen ? event : event["kind"] == "declined" ? repeated(event, count: held.count) : nil
    }
    guard event["kind"] == "detached", let uri = event["uri"]?.stringValue,
      case .attached(let binding)? = editor.buffers[uri]
    else { return repeated(event, count: held.count) }
    let title = editor.service.notebook[binding.key]?.title ?? editor.service.title(of: binding.id)
    return repeated(
      ["message": .string(NoteNews.fitted("", "", title, " is a note again")), "uri": .string(uri)], count: held.count)
  }

  /// An event that only has a line: the client received the event itself at the time.
  private func repeated(_ event: JSONValue, count: Int) -> JSONValue {
    func counted(_ words: JSONValue?) -> JSONValue? {
      words?.stringValue.map { .string(NoteNews.counted($0, count)) }
    }
    return .object(present: [
      "kind": "repeated", "uri": event["uri"], "id": event["id"], "peer": event["peer"], "name": event["name"],
      "message": counted(event["message"]), "line": counted(event["line"]), "level": EventLine.Level.urgent.json,
    ])
  }

  /// Whether the event answers what this person did, or says where their words are: no peer alone causes it.
  private static func isOwn(_ event: JSONValue) -> Bool {
    switch event["kind"]?.stringValue {
    case "refused", "recovered", "notStored", "waiting", "away", "progress": true
    case "detached": ["deleted", "purged", "notFound", "notOpened"].contains(event["reason"]?.stringValue)
    default: false
    }
  }

  /// The peer that caused the event. The causes of the others are not known, and count together.
  private static func cause(of event: JSONValue) -> String {
    let peer = event["peer"]?.stringValue.map { PeerId($0).owner.description } ?? ""
    // Counted separately, so that a person who points often does not delay other news; `PointLimit` limits these.
    return event["kind"] == "pointed" ? "pointing " + peer : peer
  }

  /// Two events with one subject report the state of the same thing.
  private static func subject(of event: JSONValue) -> String {
    let kind = event["kind"]?.stringValue ?? ""
    let (id, uri) = (event["id"]?.stringValue ?? "", event["uri"]?.stringValue ?? "")
    switch kind {
    case "access", "unshared", "moved": return "access " + (id.isEmpty ? uri : id)
    // A guest has given the note back, or a person has closed it.
    case "left" where !id.isEmpty: return "given back " + id
    case "joined", "left", "online", "offline": return "presence " + uri
    case "invited", "declined", "accepted":
      return "invitation " + (event["invitation"]?.stringValue ?? (kind + uri))
    case "detached", "deleted": return "text " + (uri.isEmpty ? id : uri)
    default: return kind + " " + (uri.isEmpty ? id : uri)
    }
  }
}

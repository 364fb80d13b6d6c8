import Automerge
import AutomergeRepo
import JSONRPC

/// Reports what others did to agendas since this person last opened them: by marks in the agenda's list, and by one
/// line at once.
///
///     an event ──► pending ──the list is opened──► shown, until it is opened again
///                     └──the list is filled again──► added to what is shown
@AutomergeRepo
final class AgendaNews {
  /// Report all changes within this time in one line.
  private static let moment: Duration = .milliseconds(700)

  private let service: Service
  private var pending: [DocumentId: AgendaDifference] = [:]
  private var shown: [DocumentId: AgendaDifference] = [:]
  private var untold: [DocumentId: AgendaDifference] = [:]
  /// Called with a line for the person about a meeting.
  var onMessage: ((DocumentId, String) -> Void)?

  init(_ service: Service) { self.service = service }

  private func entries(_ handle: DocHandle) -> [AgendaEntry] {
    (MeetingDocument(handle.document)?.items ?? []).map { AgendaEntry(id: $0.id, title: $0.title) }
  }

  /// - Parameter old: an earlier agenda of the meeting
  private func difference(from old: [AgendaEntry], to meeting: MeetingDocument, _ handle: DocHandle) -> AgendaDifference
  {
    // A person who moves an item makes it again, so the item's author is the person who moved it.
    AgendaDifference(
      from: old, to: entries(handle), byAge: meeting.items.sorted { $0.object < $1.object }.map(\.id),
      ignoring: ownItems(meeting))
  }

  /// The items that this person has added, or moved last.
  private func ownItems(_ meeting: MeetingDocument) -> Set<String> {
    Set(meeting.items.filter { $0.object.actor.map(service.author.isOwn) ?? false }.map(\.id))
  }

  // MARK: Events

  /// Call when others have changed the meeting. The record still has the former agenda and title; this enters the title.
  ///
  /// - Parameter isOpen: whether an editor has a part of the meeting open.
  func changed(_ handle: DocHandle, isOpen: Bool) {
    guard let before = service.notebook[handle.id]?.agenda, let meeting = MeetingDocument(handle.document) else {
      return
    }
    let news = difference(from: before, to: meeting, handle)
    let former = takeTitle(of: meeting, handle.id)
    guard !news.isEmpty || former != nil else { return }
    func add(to known: inout AgendaDifference) {
      known.add(news)
      if let former { known.retitle(from: former, to: meeting.title) }
    }
    add(to: &pending[handle.id, default: AgendaDifference()])
    guard isOpen || shown[handle.id] != nil else { return }
    if untold[handle.id] == nil {
      _ = service.clock.schedule(after: Self.moment) { [weak self] in self?.tell(handle) }
    }
    add(to: &untold[handle.id, default: AgendaDifference()])
  }

  /// Enters the meeting's title in its record. Returns the former one; nil if it has not changed.
  private func takeTitle(of meeting: MeetingDocument, _ id: DocumentId) -> String? {
    let title = meeting.title
    guard !title.isEmpty, let former = service.notebook[id]?.title, NoteDocument.shownTitle(former) != title else {
      return nil
    }
    service.notebook.update(id) { $0.title = title }
    return former
  }

  private func tell(_ handle: DocHandle) {
    guard let news = untold.removeValue(forKey: handle.id), !news.isEmpty else { return }
    onMessage?(handle.id, message(news, handle))
  }

  /// One line of at most 60 characters.
  private func message(_ news: AgendaDifference, _ handle: DocHandle) -> String {
    let title = service.title(of: handle.id)
    let items = MeetingDocument(handle.document)?.items.filter { news.items[$0.id] != nil } ?? []
    if let former = news.formerTitle, news.items.isEmpty, news.deleted.isEmpty {
      return NoteNews.renamed(from: former, by: nil).message(title: title)
    }
    if items.count + news.deleted.count == 1, news.formerTitle == nil {
      if let deleted = news.deleted.first { return NoteNews.fitted("", "Item deleted: ", deleted, "") }
      if let item = items.first, let what = news.items[item.id] {
        if let former = what.formerTitle { return Self.renamed(former, item.title) }
        return NoteNews.fitted(
          author(of: item, handle) ?? "A peer", what.isNew ? " added the item " : " moved the item ", item.title, "")
      }
    }
    let counts = [
      (items.count { news.items[$0.id]?.isNew ?? false }, "new"),
      (items.count { news.items[$0.id]?.isMoved ?? false }, "moved"),
      (items.count { news.items[$0.id]?.formerTitle != nil }, "renamed"), (news.deleted.count, "deleted"),
    ]
    let words = (news.formerTitle == nil ? [] : ["new title"]) + counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return NoteNews.fitted("", "Agenda of ", title, ": " + words.joined(separator: ", "))
  }

  private static func renamed(_ former: String, _ title: String) -> String {
    NoteNews.fitted("", "Item \"\(NoteNews.cut(former, to: 18))\" is now ", title, "")
  }

  /// The author of an item's present place, by the name that this person knows.
  private func author(of item: MeetingDocument.Item, _ handle: DocHandle) -> String? {
    guard let note = NoteDocument(handle.document, item: item), let actor = item.object.actor,
      let change = handle.document.change(thatMade: item.object)
    else { return nil }
    let identity = service.author.identity
    let authors = NoteAuthors(of: note, own: (identity.person, identity.name), isAlone: false) {
      [sharing = service.sharing] in sharing.metName(ofAuthor: $0)
    }
    return authors.name(of: actor, isVerified: handle.vouching().covers(change.hash, of: handle.document))
  }

  // MARK: The list

  /// What the list of items marks.
  ///
  /// - Parameter opens: whether the person opens the list; otherwise it is filled again.
  func marks(in handle: DocHandle, opens: Bool) -> AgendaMarks {
    let id = handle.id
    let now = entries(handle)
    if shown[id] == nil, let seen = service.notebook[id]?.agendaSeen {
      // This process does not know yet what happened before it started.
      pending[id] = MeetingDocument(handle.document).map { difference(from: seen, to: $0, handle) }
    }
    var news = opens ? AgendaDifference() : shown[id] ?? AgendaDifference()
    news.add(pending.removeValue(forKey: id) ?? AgendaDifference())
    shown[id] = news
    if service.notebook[id].map({ $0.agendaSeen != now }) ?? false {
      service.notebook.update(id) { $0.agendaSeen = now }
      Task { @AutomergeRepo in try? await service.notebook.save(id, withBase: false) }
    }
    var marks = AgendaMarks(deleted: news.deleted, formerTitle: news.formerTitle)
    for item in MeetingDocument(handle.document)?.items ?? [] {
      guard let what = news.items[item.id] else { continue }
      var words: [String] = []
      if what.isNew || what.isMoved {
        let by = author(of: item, handle).map { " by \($0)" } ?? ""
        words.append((what.isNew ? "new" : "moved") + by)
      }
      if let former = what.formerTitle { words.append("was \"\(former)\"") }
      marks.items[item.id] = words.joined(separator: ", ")
    }
    return marks
  }
}

/// Describes the news about an agenda.
struct AgendaMarks {
  /// By the items' ids.
  var items: [String: String] = [:]
  /// The titles of deleted items.
  var deleted: [String]
  /// The meeting's former title; nil if it has not changed.
  var formerTitle: String?
}

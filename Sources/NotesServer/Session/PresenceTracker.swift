import Automerge
import AutomergeRepo
import Foundation

/// All carets in this process's documents: carries out what `Presence` decides.
@AutomergeRepo
final class PresenceTracker {
  private var presence: Presence
  private let environment: ServiceEnvironment
  private var handles: [DocumentId: DocHandle] = [:]
  /// How many buffers of each document are open: a meeting has several.
  private var bufferCounts: [DocumentId: Int] = [:]
  private var peersOn: [DocumentId: Set<PeerId>] = [:]
  private(set) var lastSeen = LastSeen()
  /// Of the documents in memory, because people are also in notes that this person has not opened.
  private var observations: [DocumentId: Observation] = [:]
  private var timer: (deadline: Duration, action: any ScheduledAction)?

  init(name: String, _ environment: ServiceEnvironment) {
    presence = Presence(name: name)
    self.environment = environment
    environment.repo.observe { [weak self] event in
      switch event {
      case .peerDisconnected(let peer):
        self?.lastSeen.saw(peer, environment.sharing.standing(of: peer), at: environment.clock.date)
        self?.receive(.disconnected(peer: peer.description))
      case .siblingDisconnected(let peer): self?.receive(.disconnected(peer: peer.description))
      case .documentOpened(let handle): self?.observe(handle)
      case .documentDeleted(let id), .documentReleased(let id): self?.observations[id] = nil
      case .peerConnected, .siblingConnected: break
      }
    }
  }

  private func observe(_ handle: DocHandle) {
    observations[handle.id] = handle.observe { [weak self] event in
      if case .ephemeral(let message, let peer) = event { self?.received(message, via: peer) }
    }
  }

  // MARK: This person

  func rename(_ name: String) { receive(.renamed(name: name)) }

  func color(_ color: Int) { receive(.colored(color)) }

  func enter(_ handle: DocHandle) {
    handles[handle.id] = handle
    bufferCounts[handle.id, default: 0] += 1
    receive(.opened(document: handle.id.description))
    peersChanged(on: handle)
  }

  func leave(_ id: DocumentId) {
    bufferCounts[id, default: 1] -= 1
    guard bufferCounts[id] == 0 else { return }
    bufferCounts[id] = nil
    receive(.closed(document: id.description))
    handles[id] = nil
    peersOn[id] = nil
  }

  /// - Parameter ranges: UTF-8 offsets in the note's text; the caret is at the second.
  func moved(to ranges: [(Int, Int)], in note: NoteDocument, of id: DocumentId) {
    receive(.moved(document: id.description, ranges: cursors(at: ranges, in: note)))
  }

  /// This person points at a part of the text.
  func point(at range: (Int, Int), in note: NoteDocument, of id: DocumentId, text: String) {
    guard let cursors = cursors(at: [range], in: note).first else { return }
    receive(.point(document: id.description, cursors, text: text))
  }

  private func cursors(at ranges: [(Int, Int)], in note: NoteDocument) -> [CursorRange] {
    let text = note.item == nil ? nil : note.content.description
    return ranges.compactMap { start, end -> CursorRange? in
      guard let first = try? note.document.cursor(obj: note.content, utf8Offset: start),
        let second = try? note.document.cursor(obj: note.content, utf8Offset: end)
      else { return nil }
      return CursorRange(start: Array(first.bytes), end: Array(second.bytes), text: text)
    }
  }

  // MARK: Other people

  /// Call when the text has changed, which may move other people's carets. Reports this at most twenty times a second.
  func textChanged(in id: DocumentId) {
    let document = id.description
    if presence.tellsWhenTextChanges(in: document) { receive(.textChanged(document: document)) }
  }

  func people(in id: DocumentId) -> [Presence.Person] { presence.people(in: id.description).compactMap(named) }

  /// The person with the name that belongs to the peer, whatever the peer claims; nil if it is blocked.
  private func named(_ person: Presence.Person) -> Presence.Person? {
    let owner = PeerId(person.peer).owner
    let isOwn = owner == environment.repo.peerId
    guard
      let name = isOwn || owner == Tutor.peer ? person.name : environment.sharing.name(of: owner, claiming: person.name)
    else {
      return nil
    }
    var person = person
    person.name = name
    return person
  }

  /// A person's places, as UTF-8 offsets in the note's text; places that this document does not know, or that are in another
  /// of its texts, are dropped.
  func ranges(of person: Presence.Person, in note: NoteDocument) -> [(Int, Int)] {
    offsets(of: person.ranges, in: note)
  }

  /// The id of the text in which the person with this name is, in a document of several.
  func text(of name: String, in id: DocumentId) -> String? {
    people(in: id).lazy.filter { $0.name == name }.compactMap { $0.ranges.first?.text }.first
  }

  /// The places of all other people, in no particular order.
  func places(in id: DocumentId) -> [CursorRange] { presence.ranges(in: id.description) }

  func offsets(of ranges: [CursorRange], in note: NoteDocument) -> [(Int, Int)] {
    ranges.compactMap { range in
      guard range.text == nil || range.text == note.content.description,
        let start = try? note.document.utf8Offset(obj: note.content, cursor: Cursor(bytes: Data(range.start))),
        let end = try? note.document.utf8Offset(obj: note.content, cursor: Cursor(bytes: Data(range.end)))
      else { return nil }
      return (start, end)
    }
  }

  /// Shows a caret that no network brings: that of a robot in this process.
  func show(_ robot: PeerId, _ name: String, at offset: Int, in note: NoteDocument, of id: DocumentId) {
    let state = PresenceState(name: name, color: nil, ranges: cursors(at: [(offset, offset)], in: note))
    receive(.received(document: id.description, peer: robot.description, .update(state)))
  }

  func hide(_ robot: PeerId, in id: DocumentId) {
    receive(.received(document: id.description, peer: robot.description, .goodbye))
  }

  /// Takes an ephemeral message of a peer on the document. Messages that are not our presence are left to other observers.
  ///
  /// - Parameter peer: the peer that passed it to us.
  private func received(_ message: RepoMessage.EphemeralMessage, via peer: PeerId) {
    guard let cbor = try? CBOR(message.data), let payload = PresencePayload(cbor) else { return }
    let author = message.senderId
    // The robot is in this process. A peer with its id would be shown under any name that it claims.
    guard author.owner != Tutor.peer else { return }
    let isRelayed = author.owner != peer && !environment.repo.siblings.contains(peer)
    receive(
      .received(
        document: message.documentId.description, peer: author.description, payload, isRelayed: isRelayed))
  }

  /// The document is no longer shared with the peer, which is reported elsewhere: none of its editors is in it.
  func unshared(_ document: DocumentId, by peer: PeerId) {
    for person in presence.people(in: document.description) where PeerId(person.peer).owner == peer.owner {
      receive(.unshared(document: document.description, peer: person.peer))
    }
  }

  /// The document is no longer shared. Peers whose carets came by way of another peer are not in it either.
  func sharingEnds(on document: DocumentId) {
    for person in presence.people(in: document.description) {
      let owner = PeerId(person.peer).owner
      guard owner != environment.repo.peerId, owner != Tutor.peer else { continue }
      receive(.unshared(document: document.description, peer: person.peer))
    }
  }

  func peersChanged(on handle: DocHandle) {
    let peers = handle.peers
    // This event fires at every keystroke.
    if let known = peersOn[handle.id], known.count == peers.count, peers.allSatisfy(known.contains) { return }
    guard handles[handle.id] != nil else { return }
    let now = Set(peers)
    let new = now.subtracting(peersOn[handle.id] ?? [])
    peersOn[handle.id] = now
    for peer in new.sorted() {
      receive(.connected(document: handle.id.description, peer: peer.description))
    }
  }

  // MARK: Effects

  private func receive(_ event: Presence.Event) {
    perform(presence.receive(event, at: environment.clock.now))
  }

  private func perform(_ effects: [Presence.Effect]) {
    for effect in effects {
      switch effect {
      case .broadcast(let document, let payload):
        if let handle = handle(document) { handle.broadcast(Data(payload.cbor.encoded())) }
      case .cursorsChanged(let document):
        if let handle = handle(document) { environment.events.send(.caretsChanged(handle.id)) }
      case .joined(let document, let person):
        tellArrival(of: person, in: document, isHere: true)
      case .left(let document, let person):
        tellArrival(of: person, in: document, isHere: false)
      case .pointed(let document, let person, let range, let text):
        if let handle = handle(document), let person = named(person) {
          environment.events.send(.pointed(person, in: handle.id, range, text: text))
        }
      }
    }
    plan()
  }

  private func tellArrival(of person: Presence.Person, in document: String, isHere: Bool) {
    // For a note that is not open here, and for another editor of this person, only lists change.
    guard let handle = handle(document), PeerId(person.peer).owner != environment.repo.peerId else {
      return environment.events.send(.sharingChanged(.peersChanged))
    }
    guard let person = named(person) else { return }
    environment.events.send(.arrived(person, in: handle.id, isHere: isHere))
  }

  private func handle(_ document: String) -> DocHandle? { DocumentId(document).flatMap { handles[$0] } }

  private func plan() {
    guard let deadline = presence.nextDeadline else {
      timer?.action.cancel()
      timer = nil
      return
    }
    // An early check does no harm, and most deadlines only move back.
    if let timer, timer.deadline <= deadline { return }
    timer?.action.cancel()
    let action = environment.clock.schedule(after: max(.zero, deadline - environment.clock.now)) { [weak self] in
      guard let self else { return }
      self.timer = nil
      self.perform(self.presence.tick(at: self.environment.clock.now))
    }
    timer = (deadline, action)
  }
}

/// `{"__presence": {"type": "update", "channel": "notes", "value": {name, color?, ranges, in?}}}`, and for a snapshot
/// `"state": {"notes": {name, color?, ranges, in?}}`, as automerge-repo has it. All ranges are in one text, whose
/// id is `in` if the document has several.
extension PresencePayload {
  private static let channel = "notes"

  var cbor: CBOR {
    let content: CBOR
    switch self {
    case .update(let state):
      content = .record(["type": .text(type), "channel": .text(Self.channel), "value": state.cbor])
    case .snapshot(let state):
      content = .record(["type": .text(type), "state": .record(["notes": state.cbor])])
    case .heartbeat, .goodbye: content = .record(["type": .text(type)])
    case .point(let range, let text):
      content = .record([
        "type": .text(type), "channel": .text(Self.channel),
        "value": .record(["range": range.cbor, "text": .text(text), "in": range.text.map(CBOR.text)]),
      ])
    }
    return .record(["__presence": content])
  }

  /// Nil if it is not presence, or that of another program.
  init?(_ cbor: CBOR) {
    guard let content = cbor["__presence"] else { return nil }
    switch content["type"]?.text {
    case "update":
      guard content["channel"]?.text == Self.channel, let state = content["value"].flatMap(PresenceState.init) else {
        return nil
      }
      self = .update(state)
    case "snapshot":
      guard let state = content["state"]?[Self.channel].flatMap(PresenceState.init) else { return nil }
      self = .snapshot(state)
    case "heartbeat": self = .heartbeat
    case "goodbye": self = .goodbye
    case "point":
      guard content["channel"]?.text == Self.channel, let value = content["value"],
        let range = value["range"].flatMap({ CursorRange($0, in: value["in"]?.text) })
      else {
        return nil
      }
      self = .point(range, text: content["value"]?["text"]?.text ?? "")
    default: return nil
    }
  }
}

extension PresenceState {
  fileprivate var cbor: CBOR {
    .record([
      "name": .text(name), "color": color.map { .integer($0) },
      "ranges": .array(ranges.map(\.cbor)), "in": ranges.first?.text.map(CBOR.text),
    ])
  }

  fileprivate init?(_ cbor: CBOR) {
    guard let name = cbor["name"]?.text, let ranges = cbor["ranges"]?.array else { return nil }
    self.init(
      name: name, color: cbor["color"]?.integer,
      ranges: ranges.compactMap { CursorRange($0, in: cbor["in"]?.text) })
  }
}

extension CursorRange {
  fileprivate var cbor: CBOR { .array([.bytes(Data(start)), .bytes(Data(end))]) }

  fileprivate init?(_ cbor: CBOR, in text: String?) {
    guard let pair = cbor.array, pair.count == 2, let start = pair[0].bytes, let end = pair[1].bytes else { return nil }
    self.init(start: Array(start), end: Array(end), text: text)
  }
}

import AutomergeRepo

/// The people in each document, and their carets.
///
/// One value for all documents of the process. Events go in with their time, counted from any fixed moment; effects come out.
/// Call `tick` no later than `nextDeadline`.
struct Presence: Sendable {
  static let heartbeatInterval: Duration = .seconds(15)
  static let timeToLive: Duration = .seconds(45)
  /// 20 a second.
  static let minimumInterval: Duration = .milliseconds(50)
  /// Limits on what a document's peers can make this process keep.
  static let maximumPeople = 256
  static let maximumRanges = 64
  static let maximumCursorBytes = 256
  static let maximumNameScalars = 64
  static let maximumPointScalars = 80
  /// The most processes of one person in one document.
  static let maximumProcesses = 16

  struct Person: Hashable, Sendable {
    var peer: String
    var name: String
    var mark: PersonMark
    var ranges: [CursorRange]
  }

  enum Event: Hashable, Sendable {
    /// This user opened or closed the document.
    case opened(document: String)
    case closed(document: String)
    /// This user's carets.
    case moved(document: String, ranges: [CursorRange])
    /// This user shows the others a place.
    case point(document: String, CursorRange, text: String)
    /// The text has changed: other people's carets may have moved, though their cursors are the same.
    case textChanged(document: String)
    case renamed(name: String)
    /// The colour this user would like to have, 0–11.
    case colored(Int)
    /// - Parameter isRelayed: whether another peer brought it.
    case received(document: String, peer: String, PresencePayload, isRelayed: Bool = false)
    /// A peer that shares the document is connected now, or no longer.
    case connected(document: String, peer: String)
    case disconnected(peer: String)
    /// A peer no longer shares the document. Its carets are removed without a message: the event is reported elsewhere.
    case unshared(document: String, peer: String)
  }

  enum Effect: Hashable, Sendable {
    case broadcast(document: String, PresencePayload)
    /// Send `notes/cursors` with `people(in:)`.
    case cursorsChanged(document: String)
    /// For `notes/event`.
    case joined(document: String, Person)
    case left(document: String, Person)
    /// Another person shows this user a place.
    case pointed(document: String, Person, CursorRange, text: String)
  }

  private struct Room: Sendable {
    var people: [String: Guest] = [:]
    /// Nil while this user has not opened the document.
    var ranges: [CursorRange]?
    var lastSent: Duration?
    var pending: Pending?
    var lastShown: Duration?
    var mustShow = false

    /// What there is of the same process under its other id: a server relays what a process says under an id of its own, while the
    /// process itself may be connected, too.
    func twin(of peer: String) -> Guest? {
      let suffix = PeerId.webSocketSuffix
      if peer.hasSuffix(suffix) { return people[String(peer.dropLast(suffix.count))] }
      return people[peer + suffix]
    }

    /// Whether a server relays what the process says here itself. Under an id that a peer relays, anyone may speak.
    func isEcho(_ peer: String) -> Bool {
      peer.hasSuffix(PeerId.webSocketSuffix) && twin(of: peer).map { !$0.isRelayed } ?? false
    }
  }

  private struct Guest: Sendable {
    var person: Person
    var lastHeard: Duration
    /// Whether another peer relays its messages.
    var isRelayed: Bool
    /// Its arrival was announced, so its departure will be.
    var isAnnounced: Bool
  }

  /// The messages that wait to be sent; a snapshot contains everything that an update does.
  private enum Pending: Sendable { case update, snapshot }

  private(set) var name: String
  /// The colour this user would like to have, 0–11.
  private(set) var color: Int?
  private(set) var palette = Palette()
  private var rooms: [String: Room] = [:]
  private var news = ArrivalNews()
  private var points = PointLimit()

  init(name: String) { self.name = name }

  /// All other people in the document, in a steady order.
  func people(in document: String) -> [Person] {
    shown(in: document).sorted { $0.peer < $1.peer }
  }

  private func shown(in document: String) -> [Person] {
    guard let room = rooms[document] else { return [] }
    return room.people.filter { !room.isEcho($0.key) }.map(\.value.person)
  }

  /// The carets and selections of all other people in the document, in no particular order.
  func ranges(in document: String) -> [CursorRange] { shown(in: document).flatMap(\.ranges) }

  /// Whether to report a change of the text: there are carets to show, and no report of them is due already.
  func tellsWhenTextChanges(in document: String) -> Bool {
    guard let room = rooms[document], !room.mustShow else { return false }
    return room.people.values.contains { !$0.person.ranges.isEmpty }
  }

  /// The colour and letter of a person, for answers about authors and peers.
  mutating func mark(of peer: String, name: String) -> PersonMark { palette.mark(of: Self.owner(of: peer), name: name) }

  mutating func receive(_ event: Event, at now: Duration) -> [Effect] {
    var effects: [Effect] = []
    switch event {
    case .opened(let document):
      guard rooms[document]?.ranges == nil else { break }
      rooms[document, default: Room()].ranges = []
      want(.snapshot, in: document)
    case .closed(let document):
      guard rooms[document]?.ranges != nil else { break }
      rooms[document]?.ranges = nil
      rooms[document]?.pending = nil
      rooms[document]?.lastSent = nil
      effects.append(.broadcast(document: document, .goodbye))
      removeIfEmpty(document)
    case .moved(let document, let ranges):
      guard let known = rooms[document]?.ranges, known != ranges else { break }
      rooms[document]?.ranges = Array(ranges.prefix(Self.maximumRanges))
      want(.update, in: document)
    case .point(let document, let range, let text):
      guard rooms[document]?.ranges != nil else { break }
      let text = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.maximumPointScalars)))
      effects.append(.broadcast(document: document, .point(range, text: text)))
    case .textChanged(let document):
      guard let room = rooms[document], room.people.values.contains(where: { !$0.person.ranges.isEmpty }) else { break }
      rooms[document]?.mustShow = true
    case .renamed(let name):
      guard self.name != name else { break }
      self.name = name
      announce()
    case .colored(let color):
      self.color = color
      announce()
    case .received(let document, let peer, let payload, let isRelayed):
      receive(payload, from: Speaker(peer: peer, isRelayed: isRelayed), in: document, at: now, &effects)
    case .connected(let document, _):
      if rooms[document]?.ranges != nil { want(.snapshot, in: document) }
    case .unshared(let document, let peer):
      guard rooms[document]?.people.removeValue(forKey: peer) != nil else { break }
      rooms[document]?.mustShow = true
    case .disconnected(let peer):
      for document in rooms.keys.sorted() { removeAll(behind: peer, from: document, &effects) }
    }
    return effects + due(at: now)
  }

  /// Sends what has waited long enough, and removes people who have been silent too long.
  mutating func tick(at now: Duration) -> [Effect] {
    var effects: [Effect] = []
    for document in rooms.keys.sorted() {
      for (peer, entry) in rooms[document]?.people ?? [:] where now - entry.lastHeard >= Self.timeToLive {
        remove(peer, from: document, &effects)
      }
    }
    return effects + due(at: now)
  }

  /// When `tick` has something to do; nil if no document has people in it.
  var nextDeadline: Duration? {
    rooms.values.flatMap { room in
      var deadlines = room.people.values.map { $0.lastHeard + Self.timeToLive }
      if room.ranges != nil, let sent = room.lastSent {
        deadlines.append(sent + (room.pending == nil ? Self.heartbeatInterval : Self.minimumInterval))
      }
      if room.mustShow, let shown = room.lastShown { deadlines.append(shown + Self.minimumInterval) }
      return deadlines
    }.min()
  }

  /// The peer that a message is from, and whether another peer relayed it.
  private struct Speaker {
    let peer: String
    let isRelayed: Bool
  }

  private mutating func receive(
    _ payload: PresencePayload, from speaker: Speaker, in document: String, at now: Duration, _ effects: inout [Effect]
  ) {
    switch payload {
    case .update(let state): enter(speaker, state, in: document, at: now, &effects)
    case .snapshot(let state):
      let isNew = rooms[document]?.people[speaker.peer] == nil
      enter(speaker, state, in: document, at: now, &effects)
      if isNew, rooms[document]?.ranges != nil { want(.snapshot, in: document) }
    case .heartbeat: rooms[document]?.people[speaker.peer]?.lastHeard = now
    case .goodbye: remove(speaker.peer, from: document, &effects)
    case .point(let range, let text): pointed(range, text, by: speaker, in: document, at: now, &effects)
    }
  }

  private mutating func pointed(
    _ range: CursorRange, _ text: String, by speaker: Speaker, in document: String, at now: Duration,
    _ effects: inout [Effect]
  ) {
    guard let room = rooms[document], let guest = room.people[speaker.peer], room.ranges != nil,
      !room.isEcho(speaker.peer), Self.isShort(range),
      points.allows(Self.owner(of: speaker.peer), isRelayed: speaker.isRelayed, at: now)
    else { return }
    let text = Self.shown(String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.maximumPointScalars))))
    effects.append(.pointed(document: document, guest.person, range, text: text))
  }

  private mutating func enter(
    _ speaker: Speaker, _ state: PresenceState, in document: String, at now: Duration, _ effects: inout [Effect]
  ) {
    let peer = speaker.peer
    let known = rooms[document]?.people[peer]
    guard known != nil || makeRoom(for: speaker, in: document, &effects) else { return }
    let name = Self.shown(state.name)
    let ranges = state.ranges.prefix(Self.maximumRanges).filter(Self.isShort)
    let mark = palette.mark(of: Self.owner(of: peer), name: name, wish: state.color)
    let person = Person(peer: peer, name: name, mark: mark, ranges: ranges)
    let twin = rooms[document]?.twin(of: peer)
    let isAnnounced =
      known?.isAnnounced ?? twin?.isAnnounced
      ?? news.allows(Self.owner(of: peer), in: document, isRelayed: speaker.isRelayed, at: now)
    rooms[document, default: Room()].people[peer] = Guest(
      person: person, lastHeard: now, isRelayed: speaker.isRelayed, isAnnounced: isAnnounced)
    if known == nil, twin == nil, isAnnounced { effects.append(.joined(document: document, person)) }
    if known?.person != person { rooms[document]?.mustShow = true }
  }

  /// When a person has too many processes here, a new one takes the place of the one that has been silent longest. When all
  /// places are taken, a peer that speaks for itself gets the place of the relayed one that has been silent longest.
  private mutating func makeRoom(for speaker: Speaker, in document: String, _ effects: inout [Effect]) -> Bool {
    guard let people = rooms[document]?.people, people.count >= Self.maximumProcesses else { return true }
    let owner = Self.owner(of: speaker.peer)
    let processes = people.filter { Self.owner(of: $0.key) == owner }
    if processes.count >= Self.maximumProcesses,
      let oldest = processes.min(by: { ($0.value.lastHeard, $0.key) < ($1.value.lastHeard, $1.key) })
    {
      remove(oldest.key, from: document, &effects)
      return true
    }
    guard people.count >= Self.maximumPeople else { return true }
    let relayed = people.filter(\.value.isRelayed)
    guard !speaker.isRelayed, let oldest = relayed.min(by: { $0.value.lastHeard < $1.value.lastHeard }) else {
      return false
    }
    remove(oldest.key, from: document, &effects)
    return true
  }

  private static func isShort(_ range: CursorRange) -> Bool {
    max(range.start.count, range.end.count, range.text?.utf8.count ?? 0) <= maximumCursorBytes
  }

  private static func owner(of peer: String) -> String { String(peer.prefix { $0 != "/" }) }

  private mutating func remove(_ peer: String, from document: String, _ effects: inout [Effect]) {
    guard let guest = rooms[document]?.people.removeValue(forKey: peer) else { return }
    rooms[document]?.mustShow = true
    let isGone = rooms[document]?.twin(of: peer) == nil
    if guest.isAnnounced, isGone { effects.append(.left(document: document, guest.person)) }
  }

  /// A link has ended that brought a peer's carets, and those of the peer's other processes. When another of these takes its place, it
  /// speaks under the peer's own id, and its former caret would stand beside the new one.
  private mutating func removeAll(behind peer: String, from document: String, _ effects: inout [Effect]) {
    let gone = (rooms[document]?.people ?? [:]).filter { key, guest in
      key == peer || Self.owner(of: key) == peer && !guest.isRelayed
    }
    guard !gone.isEmpty else { return }
    for key in gone.keys { rooms[document]?.people[key] = nil }
    rooms[document]?.mustShow = true
    // They are one person.
    let left = gone.filter { $1.isAnnounced && rooms[document]?.twin(of: $0) == nil }.map(\.value.person)
    if let left = left.min(by: { $0.peer < $1.peer }) {
      effects.append(.left(document: document, left))
    }
  }

  private mutating func announce() {
    for document in rooms.keys where rooms[document]?.ranges != nil { want(.update, in: document) }
  }

  private mutating func want(_ kind: Pending, in document: String) {
    if rooms[document]?.pending != .snapshot { rooms[document]?.pending = kind }
  }

  private mutating func removeIfEmpty(_ document: String) {
    if let room = rooms[document], room.ranges == nil, room.people.isEmpty, !room.mustShow { rooms[document] = nil }
  }

  /// Sends what is due: at most one message and one list in `minimumInterval` for each document.
  private mutating func due(at now: Duration) -> [Effect] {
    var effects: [Effect] = []
    for document in rooms.keys.sorted() {
      guard var room = rooms[document] else { continue }
      if let ranges = room.ranges {
        let waited = room.lastSent.map { now - $0 }
        let state = PresenceState(name: name, color: color, ranges: ranges)
        if let pending = room.pending, waited.map({ $0 >= Self.minimumInterval }) ?? true {
          effects.append(.broadcast(document: document, pending == .snapshot ? .snapshot(state) : .update(state)))
          room.pending = nil
          room.lastSent = now
        } else if room.pending == nil, waited.map({ $0 >= Self.heartbeatInterval }) ?? true {
          effects.append(.broadcast(document: document, .heartbeat))
          room.lastSent = now
        }
      }
      if room.mustShow, room.lastShown.map({ now - $0 >= Self.minimumInterval }) ?? true {
        effects.append(.cursorsChanged(document: document))
        room.mustShow = false
        room.lastShown = now
      }
      rooms[document] = room
      removeIfEmpty(document)
    }
    return effects
  }

  /// A name that is fit to show: one line of limited length, without control characters.
  private static func shown(_ name: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars.prefix(maximumNameScalars) {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .format: break
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }
}

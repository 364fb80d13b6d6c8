import AutomergeRepo
import JSONRPC

/// What is stored of a note, which peers have it, and what this person may do. Reports only what is proved: a peer is
/// `inSync` only if it has sent exactly the heads that the document has here.
struct NoteStatus {
  let isStored: Bool
  /// Why the note is not stored, if the store has failed.
  let storageProblem: String?
  /// Whether storing takes unusually long, or has failed.
  let isUnstoredForLong: Bool
  let title: String?
  let access: Access
  let network: String
  let discovery: String
  let people: [PersonStatus]
  /// The number of words when the text last stayed unchanged for a moment.
  let words: Int
  /// Whether it is an item of a meeting: what is done with it is done for all who have the meeting.
  let isItem: Bool
  /// The source from which the document is expected, if it is not here.
  let source: String?
  /// Whether the working file is not UTF-8.
  let isFileUnreadable: Bool

  @AutomergeRepo
  init(of binding: BufferBinding, hasWaitedToStore: Bool = false) {
    let service = binding.service
    let (handle, texts) = (binding.handle, service.recoveredTexts)
    isStored = handle.isStored && !texts.holds(binding.id)
    storageProblem = isStored ? nil : handle.storageProblem?.words ?? (texts.holds(binding.id) ? texts.failure : nil)
    isUnstoredForLong = storageProblem != nil || (!isStored && hasWaitedToStore)
    title = service.notebook[binding.key]?.title
    access = service.sharing.access(to: binding.id)
    network = Self.network(service)
    discovery = service.sharing.discoveryState
    // A process without the network does not know which peers are there.
    let people = service.sharing.asksSiblings ? [] : service.sharing.people(on: binding.id)
    self.people = people.map { PersonStatus($0, on: binding.handle) }
    words = service.notebook[binding.key]?.words ?? 0
    isItem = binding.key.item != nil
    source = nil
    isFileUnreadable = service.environment.filesWithoutText.contains(binding.key)
  }

  /// A text counts as not stored after this time, because storing takes a moment after every key.
  static let storingTime: Duration = .seconds(2)

  /// The status of a note whose document has not arrived.
  @AutomergeRepo
  init(of opening: Opening, _ service: Service) {
    (isStored, storageProblem, isUnstoredForLong) = (false, nil, false)
    title = service.notebook[opening.key]?.title
    access = service.sharing.access(to: opening.key.document)
    (network, discovery) = (service.sharing.networkState, service.sharing.discoveryState)
    people = []
    words = service.notebook[opening.key]?.words ?? 0
    isItem = opening.key.item != nil
    source = opening.waitsFor
    isFileUnreadable = false
  }

  private var company: Company {
    Company(
      people, unstored: isUnstoredForLong ? storageProblem ?? "" : nil, isReadOnly: access == .read,
      hasTextFile: !isFileUnreadable, network: network)
  }

  /// If another process of this person has the network, nothing is wrong for the person as long as the two are connected.
  @AutomergeRepo
  private static func network(_ service: Service) -> String {
    guard service.sharing.asksSiblings else { return service.sharing.networkState }
    return service.repo.siblings.isEmpty ? "connecting" : "on"
  }

  var json: JSONValue {
    .object(present: [
      "stored": .bool(isStored), "access": .string(access.rawValue), "network": .string(network),
      "discovery": .string(discovery), "peers": .array(people.map(\.json)), "words": JSONValue(words),
      "waiting": source.map(JSONValue.string), "file": isFileUnreadable ? "notUTF8" : nil,
      "item": isItem ? true : nil, "title": title.map(JSONValue.string),
      "problem": storageProblem.map(JSONValue.string), "company": company.json,
    ])
  }
}

/// A person's state on a document.
struct PersonStatus {
  /// Whether a person has what the document has here.
  enum State: String {
    case inSync, behind
    /// One of the two sides has changes that the other refuses.
    case refused
    case unreachable
  }

  let person: PersonSummary
  let state: State
  /// How many changes the person has not confirmed.
  let pending: Int
  /// How much of the person's changes is here, in percent, while they arrive; nil otherwise.
  let percentReceived: Int?
  /// Whether the person has sent changes in another author's name.
  let forges: Bool
  /// What the person, or a server, lets this person do less than the note's access says.
  var limit: Limit?

  enum Limit: String {
    case readOnly = "read-only"
    /// It does not have the note, and does not take it.
    case notTaken = "not accepted"
  }

  var json: JSONValue { json(withAccess: false) }

  func json(withAccess: Bool) -> JSONValue {
    .object(present: [
      "peer": .string(person.peer.description), "name": .string(person.name),
      "access": withAccess ? .string(person.access.rawValue) : nil,
      "state": .string(state.rawValue),
      "reason": state == .unreachable
        ? person.problem.map(JSONValue.string) : limit.map { .string($0.rawValue) },
      "inSync": .bool(state == .inSync), "pending": JSONValue(pending),
      "receiving": percentReceived.map { JSONValue($0) }, "forges": forges ? true : nil,
    ])
  }
}

extension PersonStatus {
  @AutomergeRepo
  init(_ person: PersonSummary, on handle: DocHandle) {
    self.person = person
    pending = handle.pendingCount(for: person.peer)
    forges = handle.forgers.contains(person.peer)
    let limits = handle.limits(of: person.peer)
    if !person.isConnected {
      state = .unreachable
    } else if handle.inSync(with: person.peer) {
      state = .inSync
    } else if limits.isLacking {
      (state, limit) = (.refused, .notTaken)
    } else {
      state = handle.isRefused(by: person.peer) || handle.refuses(person.peer) ? .refused : .behind
    }
    if limit == nil, state == .refused || limits.isReadOnly { limit = .readOnly }
    percentReceived = state == .behind ? handle.percentReceived(from: person.peer) : nil
  }
}

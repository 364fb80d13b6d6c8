import AutomergeRepo
import JSONRPC

/// `notes/status`: what is stored, which peers have it, and what this person may do. Claims nothing unproved: a peer is
/// `inSync` only if it has named exactly the heads that the document has here.
extension Editor {
  func status(_ params: Parameters) throws -> JSONValue {
    guard params.has("uri") else { return statusOfService }
    let uri = try params.string("uri")
    switch buffers[uri] {
    case .attached(let attachment)?: return attachment.answerStatus()
    case .opening(let opening)? where opening.waitsFor != nil: return buffers.opener.status(of: opening)
    case .opening?:
      // What the client has sent is not in the document yet.
      guard case .object(var members) = statusOfService else { return statusOfService }
      members["stored"] = false
      return .object(members)
    case .plain?, nil: return statusOfService
    }
  }

  private var statusOfService: JSONValue {
    [
      "stored": .bool(service.repo.handles.allSatisfy(\.isStored)), "network": .string(service.sharing.networkState),
      "discovery": .string(service.sharing.discoveryState), "peers": [],
      "documents": JSONValue(service.repo.handles.count), "commits": commits,
      "sent": JSONValue(service.sharing.sentCount),
    ]
  }

  /// The durations of the last commits, in milliseconds.
  private var commits: JSONValue {
    let times = service.repo.commitTimes.sorted()
    guard !times.isEmpty else { return nil }
    func milliseconds(_ part: Double) -> JSONValue {
      JSONValue(times[min(times.count - 1, Int(Double(times.count) * part))] / .milliseconds(1))
    }
    return ["count": JSONValue(times.count), "p50": milliseconds(0.5), "p99": milliseconds(0.99)]
  }

  func status(of attachment: Attachment) -> JSONValue {
    // A process without the network does not know which peers are there.
    let people = service.sharing.asksSiblings ? [] : service.sharing.people(on: attachment.id)
    return [
      "stored": .bool(attachment.handle.isStored && !service.recoveredTexts.holds(attachment.id)),
      "access": .string(service.sharing.access(to: attachment.id).rawValue),
      "network": .string(networkState),
      "discovery": .string(service.sharing.discoveryState),
      "peers": .array(people.map { json($0, on: attachment.handle) }),
    ]
  }

  /// If another process of this person has the network, nothing is wrong for the person as long as the two are connected.
  private var networkState: String {
    guard service.sharing.asksSiblings else { return service.sharing.networkState }
    return service.repo.siblings.isEmpty ? "connecting" : "on"
  }

  /// A person's state on a document.
  func json(_ person: PersonSummary, on handle: DocHandle, withAccess: Bool = false) -> JSONValue {
    let pending = handle.pendingCount(for: person.peer)
    let state = PersonState(of: person, on: handle)
    return .object(present: [
      "peer": .string(person.peer.description), "name": .string(person.name),
      "access": withAccess ? .string(person.access.rawValue) : nil,
      "state": .string(state.rawValue), "reason": state == .refused ? "read-only" : nil,
      "inSync": .bool(state == .inSync), "pending": .int(Int64(pending)),
      "forges": handle.forgers.contains(person.peer) ? true : nil,
    ])
  }
}

/// Whether a person has what the document has here.
enum PersonState: String {
  case inSync, behind
  /// One of the two sides has changes that the other refuses.
  case refused
  case unreachable

  @AutomergeRepo
  init(of person: PersonSummary, on handle: DocHandle) {
    if !person.isConnected {
      self = .unreachable
    } else if handle.inSync(with: person.peer) {
      self = .inSync
    } else {
      self = handle.isRefused(by: person.peer) || handle.refuses(person.peer) ? .refused : .behind
    }
  }
}

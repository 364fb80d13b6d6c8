import AutomergeRepo
import Foundation

/// The people of a note as lines for a screen: those who have it, those who are invited, and those who could be.
@AutomergeRepo
struct PeopleScreen {
  private let service: Service
  private let time: ScreenTime
  private var sharing: any SharingService { service.sharing }

  init(_ service: Service) { (self.service, time) = (service, ScreenTime(now: service.clock.date)) }

  private static let columns: [ScreenTable.Column] = [
    .init(minimum: 8, maximum: 24), .init(minimum: 8, maximum: 9), .init(minimum: 16, maximum: 40), .init(minimum: 8),
  ]

  /// - Parameter handle: the document of the note.
  func table(of record: NoteRecord, _ handle: DocHandle, width: Int) -> ScreenTable {
    var table = ScreenTable(Self.columns, width: width)
    table.add([record.title, "Access", "State", "Key"])
    let host = sharing.host(of: record.id)?.peer
    let own = sharing.access(to: record.id)
    table.add(["\(service.identity.name) (you)", Self.words(own, isHost: host == nil), "", ""])
    let people = sharing.people(on: record.id)
    for person in people {
      table.add(
        [
          person.name, Self.words(person.access, isHost: person.peer == host), state(of: person, handle, own),
          Self.short(person.peer),
        ], members(person.peer, person.name))
    }
    let sent = sharing.invitations.filter { $0.direction == .sent && $0.document == record.id }
    for invitation in sent where !people.contains(where: { $0.peer == invitation.peer }) {
      table.add(
        [
          invitation.name, Self.words(invitation.access, isHost: false),
          invitation.awaitsConfirmation ? "accepted; compare the codes" : "invited; no answer yet",
          Self.short(invitation.peer),
        ], members(invitation.peer, invitation.name))
    }
    let asked = Set(people.map(\.peer) + sent.map(\.peer))
    let others = sharing.peers.filter { !asked.contains($0.peer) }
    if !others.isEmpty {
      table.say("")
      table.add(["Others", "", "", ""])
    }
    for peer in others.sorted(by: Self.nearFirst) {
      table.add(
        [peer.name, "", words(peer), Self.short(peer.peer)], members(peer.peer, peer.name))
    }
    table.say("")
    table.say(
      people.isEmpty && sent.isEmpty && others.isEmpty
        ? "Only you have this note. S makes a ticket to send"
        : "i invites, a changes access, D removes, v verifies, ? all keys")
    return table
  }

  /// All people whom the service knows or discovers on the network.
  func tableOfPeers(width: Int) -> ScreenTable {
    var table = ScreenTable(
      [
        .init(minimum: 8, maximum: 24), .init(minimum: 9), .init(minimum: 12, maximum: 24), .init(minimum: 12),
        .init(minimum: 8),
      ],
      width: width)
    table.add(["People", "State", "Address", "Notes", "Key"])
    table.add(["\(service.identity.name) (you)", "", "", "", Self.short(service.repo.peerId)])
    for peer in sharing.peers.sorted(by: Self.nearFirst) {
      let titles = peer.notes.compactMap { service.notebook[$0.document]?.title }
      table.add(
        [peer.name, words(peer), peer.via, titles.joined(separator: ", "), Self.short(peer.peer)],
        members(peer.peer, peer.name))
    }
    if sharing.peers.isEmpty {
      table.say("")
      table.say("No one is nearby. :NotesShare makes a ticket to send")
    }
    return table
  }

  private func members(_ peer: PeerId, _ name: String) -> ScreenTable.Members {
    [("peer", .text(peer.description)), ("name", .text(name))]
  }

  /// - Parameter own: this person's access to the note
  private func state(of person: PersonSummary, _ handle: DocHandle, _ own: Access) -> String {
    let isHere = service.presenceTracker.people(in: handle.id).contains { PeerId($0.peer).owner == person.peer }
    let status = PersonStatus(person, on: handle)
    let here = isHere ? "in the note, " : ""
    switch status.state {
    case .inSync where status.limit == .readOnly && own == .write: return here + "up to date; read-only for you"
    case .inSync: return here + "up to date"
    case .behind where status.pending == 0: return here + "sending (\(status.percentReceived ?? 0)%)"
    case .behind: return here + NotesScreen.counted(max(1, status.pending), "change") + " behind"
    case .refused:
      return here + (status.limit == .notTaken ? "does not take this note" : "read-only: changes refused")
    case .unreachable:
      if let problem = person.problem { return "offline: \(problem)" }
      let since = service.presenceTracker.lastSeen[person.peer].map { " since \(time.full($0))" } ?? ""
      return sharing.peers.contains { $0.peer == person.peer && $0.state == .nearby } ? "nearby" : "offline" + since
    }
  }

  private static func words(_ access: Access, isHost: Bool) -> String {
    if isHost { return "owner" }
    switch access {
    case .write: return "can edit"
    case .read: return "can read"
    case .none: return "none"
    }
  }

  private func words(_ peer: PeerSummary) -> String {
    switch peer.state {
    case .nearby: "nearby"
    case .invitationPending:
      sharing.invitations.contains { $0.direction == .received && $0.peer == peer.peer }
        ? "invites you" : "invited; no answer yet"
    case .connected: "online"
    case .rejected: "declined your last invitation"
    case .blocked: "blocked"
    case .known: "offline"
    }
  }

  private static func nearFirst(_ one: PeerSummary, _ other: PeerSummary) -> Bool {
    func rank(_ state: PeerSummary.State) -> Int {
      switch state {
      case .connected: 0
      case .nearby, .invitationPending: 1
      case .rejected, .known: 2
      case .blocked: 3
      }
    }
    return (rank(one.state), one.name, one.peer) < (rank(other.state), other.name, other.peer)
  }

  private static func short(_ peer: PeerId) -> String { String(peer.description.prefix(8)) }
}

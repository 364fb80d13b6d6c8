import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Guests of one host, who must reach each other without it.
struct GuestTests {
  /// A host with a document, and guests who have joined with its ticket.
  @AutomergeRepo
  private struct Party {
    var host: Person
    var guests: [Person]
    let note: DocHandle
    let disks: [InMemoryStorage]

    /// - Parameter isInvited: whether the guests accept invitations instead of presenting a ticket.
    init(of count: Int, isInvited: Bool = false, on loop: Loop) async throws {
      disks = (0...count).map { _ in InMemoryStorage() }
      host = try await Person.start("Host", on: loop, storage: disks[0])
      note = try host.repo.create(try .note("start"))
      let ticket = try #require(try await host.directory.share(note.id, uses: count))
      guests = []
      for number in 1...count {
        let guest = try await Person.start("Guest \(number)", on: loop, storage: disks[number])
        if isInvited {
          try await invite(guest, on: loop)
        } else {
          #expect(try await guest.directory.join(ticket) == note.id)
        }
        _ = try await guest.find(note.id)
        guests.append(guest)
      }
    }

    private func invite(_ guest: Person, on loop: Loop) async throws {
      let (host, address) = (host, try #require(guest.directory.listening))
      host.directory.discovered(.appeared(.init(peer: guest.peerId, name: "Guest", addresses: [address])))
      _ = try await host.directory.invite(guest.peerId, to: note.id, title: "Note")
      try await eventually("invited", on: loop) { !guest.directory.receivedInvitations.isEmpty }
      let invitation = try #require(guest.directory.receivedInvitations.first?.id)
      async let answer = guest.directory.answer(invitation, accepts: true)
      try await eventually("accepted", on: loop) {
        host.directory.sentInvitations.contains { $0.awaitsConfirmation }
      }
      host.directory.confirm(invitation)
      #expect(try await answer == note.id)
    }

    /// Links between guests.
    var linkCount: Int {
      let all = guests.map { guest in guests.count { guest.provider.isConnected($0.peerId) } }
      return all.reduce(0, +) / 2
    }

    func stop() async throws {
      for person in [host] + guests { try await person.stop() }
    }
  }

  @Test(arguments: [false, true]) func guestsGoOnWithoutTheirHost(areInvited: Bool) async throws {
    try await TestLoop.run { loop in
      var party = try await Party(of: 3, isInvited: areInvited, on: loop)
      try await eventually("all guests are linked", on: loop) { party.linkCount == 3 }
      let (ben, eva) = (party.guests[0], party.guests[1])
      #expect(ben.directory.name(of: eva.peerId) == "Guest 2")
      #expect(ben.grants.access(party.note.id, for: eva.peerId) == .write)
      try await party.host.stop()
      let copies = [try await ben.find(party.note.id), try await eva.find(party.note.id)]
      try copies[0].splice(0, "without the host: ")
      try await eventually("the other has it", on: loop) { copies[0].document.heads() == copies[1].document.heads() }

      // It outlives a restart of both, in which the host takes no part.
      for index in 0..<2 {
        try await party.guests[index].stop()
        party.guests[index] = try await Person.start("Guest", on: loop, storage: party.disks[index + 1])
      }
      try await eventually("they meet again", on: loop) { [party] in
        party.guests[0].provider.isConnected(party.guests[1].peerId)
      }
      let again = [try await party.guests[0].find(party.note.id), try await party.guests[1].find(party.note.id)]
      try again[1].splice(0, "again ")
      try await eventually("equal again", on: loop) { again[0].document.heads() == again[1].document.heads() }
      #expect(try again[0].document.content() == "again without the host: start")
      for person in party.guests { try await person.stop() }
    }
  }

  @Test func aGuestThatLosesTheDocumentLosesItAtTheOtherGuestsToo() async throws {
    try await TestLoop.run { loop in
      let party = try await Party(of: 3, on: loop)
      try await eventually("all guests are linked", on: loop) { party.linkCount == 3 }
      let (ben, eva, tom) = (party.guests[0], party.guests[1], party.guests[2])
      let id = party.note.id
      try await party.host.directory.unshare(id, from: eva.peerId)
      try await eventually("the others hear of it", on: loop) {
        ben.grants.access(id, for: eva.peerId) == .none && tom.grants.access(id, for: eva.peerId) == .none
          && eva.grants.access(id, for: ben.peerId) == .none
      }
      let copies = [try await ben.find(id), try await tom.find(id)]
      try copies[0].splice(0, "not for Eva: ")
      try await eventually("the rest is equal", on: loop) { copies[0].document.heads() == copies[1].document.heads() }
      #expect(try await eva.find(id).document.content() == "start")
      #expect(ben.grants.access(id, for: tom.peerId) == .write)
      // Nor does she get it by asking.
      eva.repo.send(type: "heads", fields: [:], to: ben.peerId)
      #expect(!(try await ben.find(id)).peers.contains(eva.peerId))
      try await party.stop()
    }
  }

  /// Two guests are away when one of them is dismissed. The note stays closed, and both hear of it.
  @Test func aGuestThatWasAwayHearsOfADismissalWithTheNoteClosed() async throws {
    try await TestLoop.run { loop in
      var party = try await Party(of: 3, on: loop)
      try await eventually("all guests are linked", on: loop) { party.linkCount == 3 }
      let id = party.note.id
      let (ben, eva) = (party.guests[0].peerId, party.guests[1].peerId)
      try await party.guests[1].stop()
      try await party.guests[2].stop()
      try await party.host.directory.unshare(id, from: eva)
      try await party.guests[0].stop()
      try await party.host.stop()
      #expect(try await Grants.load(from: party.disks[3]).access(id, for: eva) == .write)
      #expect(try await Grants.load(from: party.disks[2]).access(id, for: ben) == .write)
      party.host = try await Person.start("Host", on: loop, storage: party.disks[0])
      for index in 1...2 {
        let disk = party.disks[index + 1]
        party.guests[index] = try await Person.start("Guest \(index + 1)", on: loop, storage: disk)
      }
      let (evasGrants, tomsGrants) = (party.guests[1].grants, party.guests[2].grants)
      let host = party.host
      try await eventually("both have heard", on: loop) {
        tomsGrants.access(id, for: eva) == .none && evasGrants.access(id, for: ben) == .none
      }
      #expect(tomsGrants.access(id, for: ben) == .write && tomsGrants.access(id, for: host.peerId) == .write)
      #expect(host.repo.handle(of: id) == nil, "it is closed")
      // A guest that is let in again is not dismissed any more, after a restart either.
      let ticket = try #require(try await host.directory.share(id))
      #expect(try await party.guests[1].directory.join(ticket) == id)
      #expect(try await Grants.load(from: party.disks[0]).dismissed[id] == nil)
      try await party.host.stop()
      for guest in party.guests.dropFirst() { try await guest.stop() }
    }
  }

  @Test func whatOneGuestTakesFromAnotherTheHostDoesNotGiveBack() async throws {
    try await TestLoop.run { loop in
      let party = try await Party(of: 3, on: loop)
      try await eventually("all guests are linked", on: loop) { party.linkCount == 3 }
      let (ben, eva, tom) = (party.guests[0], party.guests[1], party.guests[2])
      let id = party.note.id
      try await ben.directory.unshare(id, from: eva.peerId)
      #expect(ben.grants.access(id, for: eva.peerId) == .none)
      // The host sends the list of guests once more.
      try await party.host.directory.unshare(id, from: tom.peerId)
      try await eventually("the list has come", on: loop) { ben.grants.access(id, for: tom.peerId) == .none }
      #expect(ben.grants.access(id, for: eva.peerId) == .none)
      let grants = try await Grants.load(from: party.disks[1])
      #expect(grants.access(id, for: eva.peerId) == .none && grants.access(id, for: party.host.peerId) == .write)
      try await party.stop()
    }
  }

  @Test func onlyTheHostIsBelievedAndDigitsAreStillShown() async throws {
    try await TestLoop.run { loop in
      let party = try await Party(of: 2, on: loop)
      try await eventually("the guests are linked", on: loop) { party.linkCount == 1 }
      let (ben, eva) = (party.guests[0], party.guests[1])
      let stranger = Identity().peerId
      let list = GuestList(
        document: party.note.id, guests: [.init(peer: stranger, access: .write, name: "Mallory", addresses: [])])
      let before = ben.grants.allPeers
      ben.directory.guests.receive(list, from: eva.peerId)
      ben.directory.guests.receive(GuestList(fields: [:]), from: party.host.peerId)
      let other = GuestList(document: newDocumentId(), guests: list.guests)
      ben.directory.guests.receive(other, from: party.host.peerId)
      #expect(ben.grants.allPeers == before && ben.grants.access(other.document, for: stranger) == .none)

      // The host has vouched for her on this document; that the two have met is another thing.
      let own = try eva.repo.create(try .note("cake"))
      #expect(try await eva.directory.invite(ben.peerId, to: own.id, title: "Cake")?.count == 6)
      try await ben.directory.setTrust(.blocked, of: eva.peerId)
      #expect(ben.grants.access(party.note.id, for: eva.peerId) == .none)
      ben.directory.guests.receive(
        GuestList(
          document: party.note.id, guests: [.init(peer: eva.peerId, access: .write, name: "Eva", addresses: [])]),
        from: party.host.peerId)
      #expect(ben.grants.access(party.note.id, for: eva.peerId) == .none)
      try await party.stop()
    }
  }

  @Test func aLargeCompanyNeedsFewLinks() async throws {
    try await TestLoop.run { loop in
      let party = try await Party(of: 11, on: loop)
      let everybody = Set(([party.host] + party.guests).map(\.peerId))
      var pairs: Set<Set<PeerId>> = []
      for guest in party.guests {
        let others = everybody.subtracting([guest.peerId])
        for peer in Rendezvous.peersToCall(by: guest.peerId, among: others, on: party.note.id)
        where peer != party.host.peerId { pairs.insert([guest.peerId, peer]) }
      }
      #expect((19...27).contains(pairs.count), "three relays, or two and the host")
      try await eventually("the links that are wanted", on: loop) {
        pairs.allSatisfy { pair in
          let two = party.guests.filter { pair.contains($0.peerId) }
          return two.count == 2 && two[0].provider.isConnected(two[1].peerId)
        }
      }
      let copies = try await withCopies(of: party)
      try copies[10].splice(0, "from the last ")
      try await eventually("all have it", on: loop) {
        copies.allSatisfy { $0.document.heads() == copies[10].document.heads() }
      }
      try await party.stop()
    }
  }

  @AutomergeRepo
  private func withCopies(of party: Party) async throws -> [DocHandle] {
    var copies: [DocHandle] = []
    for guest in party.guests { copies.append(try await guest.find(party.note.id)) }
    return copies
  }

  @Test func aListSurvivesItsFieldsAndNonsenseDoesNot() throws {
    let guests = (0..<3).map { number in
      GuestList.Guest(
        peer: Identity().peerId, access: number == 0 ? .read : .write, name: number == 1 ? nil : "N\(number)",
        addresses: [PeerAddress("192.168.1.\(number):700\(number)")].compactMap(\.self))
    }
    let list = GuestList(document: newDocumentId(), guests: guests)
    #expect(GuestList(fields: list.fields) == list)
    #expect(GuestList(fields: [:]) == nil)
    #expect(GuestList(fields: ["documentId": "x", "guests": .array([])]) == nil)
    #expect(GuestList(fields: ["documentId": .text(list.document.description), "guests": "none"]) == nil)
    let peer = CBOR.text(guests[0].peer.description)
    let entries: [CBOR] = [
      "x", .record(["peer": "nobody", "access": "write"]), .record(["peer": peer, "access": "none"]),
      .record(["peer": peer, "access": "all"]), .record(["peer": peer]),
      .record(["peer": peer, "access": "read", "name": 7, "addresses": .array(["example.org:1", 5, "10.0.0.1:99999"])]),
      .record(["peer": peer, "access": "write"]),
    ]
    let read = GuestList(fields: ["documentId": .text(list.document.description), "guests": .array(entries)])
    #expect(read?.guests == [.init(peer: guests[0].peer, access: .read, name: nil, addresses: [])])
    let flood = (0..<500).map { _ in CBOR.record(["peer": .text(Identity().peerId.description), "access": "read"]) }
    let capped = GuestList(fields: ["documentId": .text(list.document.description), "guests": .array(flood)])
    #expect(capped?.guests.count == GuestList.maximumGuests)
  }

  private func newDocumentId() -> DocumentId {
    var random = SeededGenerator(seed: 12)
    return DocumentId.random(using: &random)
  }
}

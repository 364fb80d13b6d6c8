import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork

/// Machines whose calendars are wrong, differ, or are set while people work.
struct ClockTests {
  private static let tenYears: TimeInterval = 3652 * 86_400

  /// The host's calendar, or the guest's, is ten years ahead or behind.
  @Test(arguments: [tenYears, -tenYears], [true, false])
  func calendarsTenYearsApartDoNoHarm(ahead: TimeInterval, isHosts: Bool) async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let host = try await Person.start("Host", on: loop, storage: InMemoryStorage())
      var guest = try await Person.start("Guest", on: loop, storage: disk)
      (isHosts ? host : guest).clock.calendarAhead = ahead
      let note = try host.repo.create(try .note("soup"))
      // The host decides whether a ticket is valid.
      let ticket = try #require(try await host.directory.share(note.id, expiresIn: .seconds(3600)))
      let copy = try await guest.find(try await guest.directory.join(ticket))
      try note.splice(0, "a ")
      try copy.splice(0, "b ")
      try await eventually("equal", on: loop) { note.document.heads() == copy.document.heads() }
      #expect(host.provider.isConnected(guest.peerId))
      // They meet again, too.
      try await guest.stop()
      guest = try await Person.start("Guest", on: loop, storage: disk)
      if !isHosts { guest.clock.calendarAhead = ahead }
      let again = try await guest.find(note.id)
      try again.splice(0, "c ")
      try await eventually("equal again", on: loop) { note.document.heads() == again.document.heads() }
      #expect(try note.document.content()?.hasPrefix("c ") == true)
      for person in [host, guest] { try await person.stop() }
    }
  }

  @Test(arguments: [-3600, 3600] as [TimeInterval])
  func aCalendarThatJumpsInASessionDoesNoHarm(jump: TimeInterval) async throws {
    try await TestLoop.run { loop in
      let host = try await Person.start("Host", on: loop, storage: InMemoryStorage())
      let guest = try await Person.start("Guest", on: loop, storage: InMemoryStorage())
      let note = try host.repo.create(try .note("soup"))
      let ticket = try #require(try await host.directory.share(note.id))
      let copy = try await guest.find(try await guest.directory.join(ticket))
      var disconnections = 0
      host.repo.observe { if case .peerDisconnected = $0 { disconnections += 1 } }
      for round in 0..<6 {
        (round % 2 == 0 ? host : guest).clock.calendarAhead += jump
        try note.splice(0, "a")
        try copy.splice(0, "b")
        try await eventually("equal", on: loop) { note.document.heads() == copy.document.heads() }
      }
      #expect(disconnections == 0)
      #expect(try note.document.content()?.count == 16)
      for person in [host, guest] { try await person.stop() }
    }
  }

  @Test func aTicketThatHasExpiredDoesNotComeBackWithTheClock() async throws {
    try await TestLoop.run { loop in
      let host = try await Person.start("Host", on: loop, storage: InMemoryStorage())
      let guest = try await Person.start("Guest", on: loop, storage: InMemoryStorage())
      let note = try host.repo.create(try .note("soup"))
      let ticket = try #require(try await host.directory.share(note.id, expiresIn: .seconds(60)))
      host.clock.calendarAhead = 61
      await #expect(throws: JoinError.ticket(.ticketExpired)) { try await guest.directory.join(ticket) }
      host.clock.calendarAhead = -3600
      await #expect(throws: JoinError.ticket(.ticketExpired)) { try await guest.directory.join(ticket) }
      #expect(host.grants.access(note.id, for: guest.peerId) == .none)
      for person in [host, guest] { try await person.stop() }
    }
  }

  /// The person takes a document back while it is on its way.
  @Test func whatIsTakenBackDuringTheTransferEndsThere() async throws {
    try await TestLoop.run { loop in
      let host = try await Person.start("Host", on: loop, storage: InMemoryStorage())
      let guest = try await Person.start("Guest", on: loop, storage: InMemoryStorage())
      let note = try host.repo.create(try .note(String(repeating: "soup and bread\n", count: 100_000)))
      let ticket = try #require(try await host.directory.share(note.id))
      _ = try await guest.directory.join(ticket)
      try await host.directory.unshare(note.id)
      try note.splice(0, "not for the guest ")
      #expect(host.grants.access(note.id, for: guest.peerId) == .none)
      // Whatever was on its way may have come; what was written afterwards has not.
      guest.repo.send(type: "ping", fields: [:], to: host.peerId)
      if case .found(let copy) = await guest.repo.find(note.id, within: .milliseconds(200)) {
        #expect(try copy.document.content()?.hasPrefix("not for") == false)
      }
      #expect(!note.peers.contains(guest.peerId))
      try note.splice(0, "x")
      for person in [host, guest] { try await person.stop() }
    }
  }
}

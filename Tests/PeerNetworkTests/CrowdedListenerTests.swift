import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Peers that hold links open, or make a service hold bytes for them, over real encrypted links.
@Suite(.serialized) struct CrowdedListenerTests {}

extension CrowdedListenerTests {
  private func residentByteCount() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
  }

  @Test func idleLinksLockNoPeerOut() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("soup"))
      let ticket = try #require(try await ana.directory.share(note.id))
      let address = try #require(ana.directory.listening)
      // All of them have proved a key and would answer every ping.
      var idle: [RawPeer] = []
      for _ in 0..<StrangerLinks.maximumCount * 2 {
        let raw = try await RawPeer.connect(to: address, on: loop)
        try raw.join()
        try await eventually("let in", on: loop) { raw.isClosed || !raw.messages.isEmpty }
        #expect(!raw.isClosed)
        idle.append(raw)
      }
      #expect(ana.provider.links.count <= StrangerLinks.maximumPerAddress)

      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let copy = try await ben.find(try await ben.directory.join(ticket))
      #expect(try copy.document.content() == "soup")
      #expect(ana.provider.isConnected(ben.peerId))

      // A known peer is not counted among them, and stays when more of them come.
      for _ in 0..<StrangerLinks.maximumPerAddress * 2 {
        idle.append(try await RawPeer.connect(to: address, on: loop))
      }
      try note.splice(0, "pea ")
      try await eventually("equal", on: loop) { note.document.heads() == copy.document.heads() }
      #expect(ana.provider.isConnected(ben.peerId))
      for raw in idle { raw.stream.close() }
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func aStrangerThatIsNotAwaitedIsSentAwayAfterAMinuteHoweverItAnswers() async throws {
    try await TestLoop.run { loop in
      let clock = ManualClock()
      let one = try Station(loop, clock: clock)
      let (idle, awaited) = (
        try await RawPeer.connect(to: one.address, on: loop), try await RawPeer.connect(to: one.address, on: loop)
      )
      one.provider.policy.isAwaited = { $0 == awaited.peerId }
      for raw in [idle, awaited] {
        try raw.join()
        try await eventually("joined", on: loop) { one.provider.isConnected(raw.peerId) }
      }
      for round in 1...5 {
        clock.advance(by: .seconds(14))
        for raw in [idle, awaited] where !raw.isClosed {
          try raw.send(.other(type: "ping", fields: [:]))
          try await eventually("answered", on: loop) {
            raw.isClosed || raw.messages.count { $0 == .other(type: "pong", fields: [:]) } >= round
          }
        }
      }
      try await eventually("sent away", on: loop) { idle.isClosed }
      #expect(one.provider.isConnected(awaited.peerId) && !awaited.isClosed)
      one.provider.stop()
    }
  }

  @Test func callersThatHaveGoneLeaveNothingBehind() async throws {
    try await TestLoop.run { loop in
      let clock = ManualClock()
      let one = try Station(loop, clock: clock)
      for round in 1...24 {
        let raw = try await RawPeer.connect(to: one.address, on: loop)
        try raw.join()
        try await eventually("let in", on: loop) { one.heard.connected.count == round }
        raw.stream.close()
        try await eventually("gone", on: loop) { one.provider.links.count == 0 }
      }
      #expect(clock.plannedCount <= 2)
      // One that comes now has its whole minute.
      clock.advance(by: .seconds(30))
      let raw = try await RawPeer.connect(to: one.address, on: loop)
      try raw.join()
      try await eventually("let in", on: loop) { one.provider.isConnected(raw.peerId) }
      clock.advance(by: .seconds(31))
      try await raw.pinged()
      #expect(!raw.isClosed)
      clock.advance(by: .seconds(30))
      try await eventually("sent away", on: loop) { raw.isClosed }
      one.provider.stop()
    }
  }

  @Test(arguments: [false, true]) func pingsWhoseAnswersAreNotReadCostNoMemory(isKnown: Bool) async throws {
    try await TestLoop.run { loop in
      let one = try Station(loop)
      one.provider.policy.isKnown = { _ in isKnown }
      let frame = try Frame.encode(RepoMessage.other(type: "ping", fields: [:]).encoded())
      let pings = Array(repeatElement(frame, count: (80 << 10) / frame.count).joined())
      var raws: [RawPeer] = []
      for _ in 0..<4 {
        let raw = try await RawPeer.connect(to: one.address, on: loop, reads: false)
        try raw.join()
        try await eventually("joined", on: loop) { one.provider.isConnected(raw.peerId) }
        raws.append(raw)
      }
      let before = self.residentByteCount()
      var sent = 0
      for _ in 0..<12 {
        for raw in raws where !raw.isClosed && raw.stream.queuedByteCount < 1 << 20 {
          raw.send(pings)
          sent += pings.count
        }
        for _ in 0..<20 { try await eventually("a turn", on: loop) { true } }
        var turns = 0
        try await eventually("some turns", on: loop) {
          turns += 1
          return turns > 20
        }
      }
      let growth = self.residentByteCount() - before
      print("\(sent >> 10) KiB of pings whose answers are not read, known \(isKnown): \(growth >> 10) KiB of memory")
      // The attackers' own queues are in the same process.
      let own = raws.reduce(0) { $0 + $1.stream.queuedByteCount }
      #expect(growth - own < 8 << 20)

      // A peer that reads is answered.
      let reader = try await RawPeer.connect(to: one.address, on: loop)
      try reader.join()
      try await eventually("joined", on: loop) { one.provider.isConnected(reader.peerId) }
      for _ in 0..<3 { try reader.send(.other(type: "ping", fields: [:])) }
      try await eventually("answered", on: loop) { reader.messages.contains(.other(type: "pong", fields: [:])) }
      for raw in raws + [reader] { raw.stream.close() }
      one.provider.stop()
    }
  }
}

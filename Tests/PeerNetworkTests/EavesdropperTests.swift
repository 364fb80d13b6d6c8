import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Passes bytes between two connections and keeps a copy.
@AutomergeRepo
private final class Wire {
  private(set) var seen: [UInt8] = []
  private var listener: TCPListener?

  var address: PeerAddress? { listener?.address.map { PeerAddress(host: $0.host, port: $0.port) } }

  init(_ loop: Loop, to target: PeerAddress) throws {
    listener = try TCPListener(on: loop, host: "127.0.0.1", port: 0) { [weak self] caller in
      nonisolated(unsafe) let caller = caller
      TCPStream.connect(on: loop, host: target.host, port: target.port) { result in
        nonisolated(unsafe) let result = result
        AutomergeRepo.assumeIsolated {
          guard let called = try? result.get() else { return caller.close() }
          self?.join(caller, called)
          self?.join(called, caller)
        }
      }
    }
  }

  private func join(_ from: TCPStream, _ to: TCPStream) {
    from.onRead = { bytes in
      let bytes = Array(bytes)
      AutomergeRepo.assumeIsolated { self.seen += bytes }
      try? to.write(bytes)
    }
    from.onClose = { _ in to.close() }
    from.resumeReading()
  }

  func close() { listener?.close() }

  func saw(_ bytes: some Collection<UInt8>) -> Bool { Data(seen).range(of: Data(bytes)) != nil }
}

struct EavesdropperTests {
  @Test func anEavesdropperReadsNothing() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage(), listen: nil)
      let wire = try Wire(loop, to: try #require(ana.directory.listening))
      let note = try ana.repo.create(try .note("recipe for plum cake"))
      var ticket = try #require(try await ana.directory.share(note.id))
      ticket.addresses = [try #require(wire.address)]
      let copy = try await ben.find(try await ben.directory.join(ticket))
      try copy.splice(0, "Bens words: ")
      try await eventually("both are equal", on: loop) { note.document.heads() == copy.document.heads() }
      // A title travels in an invitation.
      let other = try ana.repo.create(try .note("y"))
      _ = try await ana.directory.invite(ben.peerId, to: other.id, title: "Grandmother's secrets")
      try await eventually("invited", on: loop) { !ben.directory.receivedInvitations.isEmpty }
      #expect(wire.seen.count > 500)
      for text in [
        "Grandmother", "secrets", "recipe", "plum", "Bens words", "content", "Ana", "Ben", "documentId",
        note.id.description,
      ] {
        #expect(!wire.saw(text.utf8), "\(text)")
      }
      for bytes in [ticket.secret, note.id.bytes, Identity.fingerprint(of: ben.peerId) ?? []] {
        #expect(!wire.saw(bytes))
      }
      wire.close()
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func anAttackerInBetweenIsRefused() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage(), listen: nil)
      // Eve answers at the address that Ben believes to be Ana's.
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      var ticket = try #require(try await ana.directory.share(note.id))
      ticket.addresses = [try #require(eve.directory.listening)]
      let address = ticket.addresses.map(\.description).joined()
      await #expect(throws: JoinError.unreachable(address: address, reason: "another peer answers there")) {
        try await ben.directory.join(ticket)
      }
      // She did not even learn which peer called.
      #expect(eve.events.allSatisfy { $0 == .networkState })
      for person in [ana, ben, eve] { try await person.stop() }
    }
  }
}

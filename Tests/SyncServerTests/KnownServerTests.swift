import AutomergeRepo
import Foundation
import PeerTransport
import Testing

@testable import SyncServer

/// What the store has of the servers that a person is connected to.
struct KnownServerTests {
  private let identity = Identity()
  private let url = "wss://notes.example/"

  private func server(_ url: String, token: String?) throws -> KnownServer {
    var server = try #require(KnownServer(url, token: token))
    var random = SystemRandomNumberGenerator()
    server.documents = [DocumentId.random(using: &random)]
    return server
  }

  @Test func serversOfOneHostAreToldApartByTheirPorts() throws {
    let servers = try ["wss://a.example/", "wss://b.example/", "wss://b.example:8443/"].map {
      try #require(KnownServer($0))
    }
    #expect(servers.map { $0.name(among: servers) } == ["a.example", "b.example:443", "b.example:8443"])
    #expect(servers[1].name(among: servers[1...1]) == "b.example")
  }

  @Test(arguments: [nil, "?token=SECRET", "?room=a"]) func aStoredServerIsReadAgainAndHasNothingInTheClear(
    query: String?
  ) throws {
    for token in [nil, "SECRET-token"] {
      let server = try server(url + (query ?? ""), token: token)
      var seal = TokenSeal(identity)
      let record = server.record(sealedBy: &seal)
      #expect(!String(decoding: record.encoded(), as: UTF8.self).contains("SECRET"))
      #expect(!KnownServer.isOpen(record))
      #expect(KnownServer(record: record, sealedBy: TokenSeal(identity)) == server)
    }
  }

  @Test func withAnotherKeyTheServerIsKnownAndItsTokenIsNot() throws {
    let server = try server(url, token: "SECRET")
    var seal = TokenSeal(identity)
    let record = server.record(sealedBy: &seal)
    let read = try #require(KnownServer(record: record, sealedBy: TokenSeal(Identity())))
    #expect(read.token == nil)
    #expect(read.documents == server.documents)
  }

  @Test func aSealIsForOnePlaceAndNothingMayBeChanged() throws {
    var seal = TokenSeal(identity)
    let first = seal.seal("SECRET", for: url)
    let sealed = try #require(first)
    #expect(seal.open(sealed, for: url) == "SECRET")
    #expect(seal.open(sealed, for: "wss://other.example/") == nil)
    let second = seal.seal("SECRET", for: url)
    #expect(second != sealed, "each has a nonce of its own")
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(seal.open(changed, for: url) == nil, "byte \(index)")
      #expect(seal.open(sealed[..<index], for: url) == nil, "\(index) bytes")
    }
  }

  @Test func recordsOfEarlierVersionsAreReadAndSealed() throws {
    let old = CBOR.record(["url": .text(url), "token": .text("SECRET"), "documents": .array([])])
    #expect(KnownServer.isOpen(old))
    let server = try #require(KnownServer(record: old, sealedBy: TokenSeal(identity)))
    #expect(server.token == "SECRET")
    var seal = TokenSeal(identity)
    #expect(!KnownServer.isOpen(server.record(sealedBy: &seal)))
  }
}

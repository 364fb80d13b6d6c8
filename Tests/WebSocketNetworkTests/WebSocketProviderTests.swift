import AutomergeRepo
import Foundation
import PeerTransport
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import WebSocketNetwork

struct WebSocketProviderTests {
  private static func document(_ from: String, _ to: String, _ bytes: [UInt8] = [1]) throws -> RepoMessage {
    .document(
      RepoMessage.DocumentMessage(
        senderId: PeerId(from), targetId: PeerId(to),
        documentId: try #require(DocumentId("148vjpuxLmPtrT3kP4TEueSfUbc")), content: .sync(Data(bytes))))
  }

  private static func url(_ address: PeerAddress, _ query: String = "") throws -> WebSocketURL {
    try #require(WebSocketURL("ws://\(address)/\(query)"))
  }

  @Test func aCallerAndAServerTalkWithATokenInTheHeadOrTheQuery() async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let address = try server.listen(token: "secret")
      let (head, query) = (Station("head", loop), Station("query", loop))
      head.provider.connect(to: try Self.url(address), token: "secret")
      query.provider.connect(to: try Self.url(address, "?token=secret"))
      try await eventually("two callers", on: loop) { server.heard.connected.count == 2 }
      #expect(server.provider.proof(of: head.peerId) == .token("secret"))
      #expect(server.heard.metadata[query.peerId]?.name == "query")
      let message = try Self.document("server", "head")
      server.provider.send(message, to: head.peerId)
      try await eventually("a message", on: loop) { head.heard.messages == [message] }
      #expect(query.heard.messages.isEmpty)
      for station in [head, query, server] { station.provider.stop() }
      try await eventually("all gone", on: loop) { server.heard.disconnected.count == 2 }
    }
  }

  @Test func aWrongTokenIsToldToTheCaller() async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let url = try Self.url(try server.listen(token: "secret"))
      let caller = Station("caller", loop)
      caller.provider.connect(to: url, token: "wrong")
      try await eventually("a refusal", on: loop) {
        guard case .waiting(let error)? = caller.provider.serverStates[url] else { return false }
        return error.description.contains("refuses the token")
      }
      #expect(server.heard.connected.isEmpty)
      // The right one is used at the next call.
      caller.provider.connect(to: url, token: "secret")
      try await eventually("connected", on: loop) { caller.provider.serverStates[url] == .connected(server.peerId) }
      for station in [caller, server] { station.provider.stop() }
    }
  }

  @Test func anotherTokenForAConnectedServerTakesEffect() async throws {
    try await TestLoop.run { loop in
      let (server, caller) = (Station("server", loop), Station("caller", loop))
      let url = try Self.url(
        try server.provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0)) { request in
          request.token == "wrong" ? .refuse : .accept(.token(request.token ?? ""))
        })
      var failures: [PeerNetworkError] = []
      caller.provider.onServerChange = { _, state in if let error = state.error { failures.append(error) } }
      caller.provider.connect(to: url, token: "reader")
      try await eventually("connected", on: loop) { caller.provider.serverStates[url] == .connected(server.peerId) }
      #expect(server.provider.proof(of: caller.peerId) == .token("reader"))
      caller.provider.connect(to: url, token: "writer")
      #expect(caller.provider.serverStates[url] == .connecting)
      try await eventually("connected again", on: loop) {
        caller.provider.serverStates[url] == .connected(server.peerId)
      }
      #expect(server.provider.proof(of: caller.peerId) == .token("writer"))
      #expect(failures.isEmpty, "\(failures)")
      #expect(caller.heard.connected.count == 2)
      #expect(caller.heard.disconnected.count == 1)
      // The last of several in one turn counts.
      for token in ["wrong", "wrong", "reader"] { caller.provider.connect(to: url, token: token) }
      try await eventually("connected once more", on: loop) {
        caller.provider.serverStates[url] == .connected(server.peerId)
      }
      #expect(server.provider.proof(of: caller.peerId) == .token("reader"))
      #expect(failures.isEmpty, "\(failures)")
      for station in [caller, server] { station.provider.stop() }
    }
  }

  @Test func theRefusalOfAnOlderTokenIsNotTakenForThatOfTheNew() async throws {
    try await TestLoop.run { loop in
      let (server, caller) = (Station("server", loop), Station("caller", loop))
      var onRefusal: (() -> Void)?
      let address = try server.provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0)) { request in
        guard request.token == "wrong" else { return .accept(.token(request.token ?? "")) }
        onRefusal?()
        return .refuse
      }
      let url = try Self.url(address)
      // The refusal is on its way.
      onRefusal = { caller.provider.connect(to: url, token: "secret") }
      var failures: [PeerNetworkError] = []
      caller.provider.onServerChange = { _, state in if let error = state.error { failures.append(error) } }
      caller.provider.connect(to: url, token: "wrong")
      try await eventually("connected", on: loop) { caller.provider.serverStates[url] == .connected(server.peerId) }
      #expect(failures.isEmpty, "\(failures)")
      #expect(server.provider.proof(of: caller.peerId) == .token("secret"))
      for station in [caller, server] { station.provider.stop() }
    }
  }

  @Test func severalServersAreKeptAtOnceAndALostOneIsCalledAgain() async throws {
    try await TestLoop.run { loop in
      let (first, second, caller) = (Station("first", loop), Station("second", loop), Station("caller", loop))
      let address = try first.listen()
      caller.provider.connect(to: try Self.url(address))
      caller.provider.connect(to: try Self.url(try second.listen()))
      try await eventually("both", on: loop) { Set(caller.heard.connected) == [first.peerId, second.peerId] }
      first.provider.stop()
      try await eventually("lost", on: loop) { caller.heard.disconnected == [first.peerId] }
      let heir = Station("heir", loop)
      try heir.provider.listen(at: address) { _ in .accept(.token("")) }
      try await eventually("called again", on: loop) { caller.heard.connected.contains(heir.peerId) }
      #expect(caller.heard.disconnected == [first.peerId])
      for station in [caller, second, heir] { station.provider.stop() }
    }
  }

  @Test func aForgottenServerIsLeft() async throws {
    try await TestLoop.run { loop in
      let (server, caller) = (Station("server", loop), Station("caller", loop))
      let url = try Self.url(try server.listen())
      caller.provider.connect(to: url)
      try await eventually("connected", on: loop) { caller.heard.connected.count == 1 }
      caller.provider.forget(url)
      try await eventually("left", on: loop) { server.heard.disconnected == [caller.peerId] }
      #expect(caller.heard.disconnected == [server.peerId])
      #expect(caller.provider.serverStates.isEmpty)
      server.provider.stop()
    }
  }

  @Test func twoAddressesOfOneServerMakeOneConnection() async throws {
    try await TestLoop.run { loop in
      let (server, caller) = (Station("server", loop), Station("caller", loop))
      let address = try server.listen()
      let (first, second) = (try Self.url(address), try Self.url(address, "?second"))
      caller.provider.connect(to: first)
      try await eventually("connected", on: loop) { caller.heard.connected.count == 1 }
      caller.provider.connect(to: second)
      // The server closes the older, as another implementation would. The caller calls the first again, and not the second
      // meanwhile.
      try await eventually("called again and again", on: loop) {
        caller.provider.serverStates[second]?.error?.description.contains("already") == true
          && caller.provider.serverStates[first] == .connected(server.peerId) && caller.heard.connected.count > 1
      }
      #expect(caller.heard.connected.count == caller.heard.disconnected.count + 1)
      caller.provider.forget(first)
      try await eventually("the second serves", on: loop) {
        caller.provider.serverStates[second] == .connected(server.peerId)
      }
      for station in [caller, server] { station.provider.stop() }
    }
  }

  @Test func anEncryptedServerProvesItsName() async throws {
    let authority = try TestAuthority()
    let stranger = try TestAuthority()
    defer { withExtendedLifetime((authority, stranger)) {} }
    let (certificate, trusted, other) = (authority.certificate, authority.authorityFile, stranger.authorityFile)
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let port = try server.listen(certificate: certificate).port
      for (host, trust, connects) in [
        ("localhost", trusted, true), ("127.0.0.1", trusted, true), ("localhost", other, false),
        ("localhost", nil, false),
      ] as [(String, String?, Bool)] {
        let caller = Station("caller-\(host)", loop, authorityFile: trust)
        let url = try #require(WebSocketURL("wss://\(host):\(port)"))
        caller.provider.connect(to: url)
        try await eventually("an outcome for \(host)", on: loop) { caller.provider.serverStates[url] != .connecting }
        if connects {
          #expect(caller.provider.serverStates[url] == .connected(server.peerId))
        } else if case .waiting(let error)? = caller.provider.serverStates[url] {
          #expect(error.description.contains("certificate"), "\(error)")
        } else {
          Issue.record("connected with a certificate of an unknown authority")
        }
        caller.provider.stop()
      }
      server.provider.stop()
    }
  }

  @Test func aCertificateForAnotherNameIsRefused() async throws {
    let authority = try TestAuthority(names: "DNS:example.org")
    defer { withExtendedLifetime(authority) {} }
    let (certificate, trusted) = (authority.certificate, authority.authorityFile)
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let url = try #require(WebSocketURL("wss://localhost:\(try server.listen(certificate: certificate).port)"))
      let caller = Station("caller", loop, authorityFile: trusted)
      caller.provider.connect(to: url)
      try await eventually("refused", on: loop) {
        guard case .waiting(let error)? = caller.provider.serverStates[url] else { return false }
        return error.description.contains("hostname mismatch")
      }
      #expect(server.heard.connected.isEmpty)
      for station in [caller, server] { station.provider.stop() }
    }
  }

  @Test func filesThatAreNoCertificateAreNamed() async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let files = WebSocketCertificate(certificateFile: "/nowhere.pem", keyFile: "/nowhere.key")
      #expect {
        try server.listen(certificate: files)
      } throws: { error in
        "\(error)".contains("/nowhere.pem")
      }
      #expect(server.provider.listening == nil)
    }
  }

  // MARK: Ids

  @Test func aServerThatClaimsTheIdOfAnotherDoesNotTakeItsPlace() async throws {
    try await TestLoop.run { loop in
      let (server, thief, caller) = (Station("server", loop), Station("server", loop), Station("caller", loop))
      let address = try server.listen()
      let (url, other) = (try Self.url(address), try Self.url(try thief.listen()))
      caller.provider.connect(to: url)
      try await eventually("connected", on: loop) { caller.provider.serverStates[url] == .connected(server.peerId) }
      caller.provider.connect(to: other)
      try await eventually("refused", on: loop) {
        caller.provider.serverStates[other]?.error?.description.contains("already") == true
      }
      #expect(caller.provider.proof(of: server.peerId) == .address(url.description))
      #expect(caller.heard.disconnected.isEmpty)
      // It serves while the first is away, as another address of the same server would.
      server.provider.stop()
      try await eventually("the other serves", on: loop) {
        caller.provider.networkImproved()
        return caller.provider.proof(of: server.peerId) == .address(other.description)
      }
      let heir = Station("server", loop)
      try heir.provider.listen(at: address) { _ in .accept(.token("")) }
      try await eventually("the first is back", on: loop) {
        caller.provider.networkImproved()
        return caller.provider.proof(of: server.peerId) == .address(url.description)
      }
      for station in [caller, thief, heir] { station.provider.stop() }
    }
  }

  @Test func theNewerOfTwoCallersOfOneIdStays() async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let address = try server.listen()
      let old = try await RawClient.joined(as: "ben", to: address, on: loop)
      let new = try await RawClient.joined(as: "ben", to: address, on: loop)
      try await eventually("the older is closed", on: loop) { old.isClosed }
      #expect(server.heard.connected == [PeerId("ben"), PeerId("ben")])
      #expect(server.heard.disconnected == [PeerId("ben")])
      new.write(RawClient.frame(try Self.document("ben", "server").encoded()))
      try await eventually("the newer is heard", on: loop) { server.heard.messages.count == 1 }
      server.provider.stop()
    }
  }

  @Test func anIdInUseIsNotGivenToAnotherToken() async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let address = try server.provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0)) { request in
        .accept(.token(request.token ?? ""))
      }
      let (ben, thief) = (Station("ben", loop), Station("ben", loop))
      ben.provider.connect(to: try Self.url(address), token: "ben's")
      try await eventually("connected", on: loop) { server.heard.connected.count == 1 }
      let url = try Self.url(address, "?thief")
      thief.provider.connect(to: url, token: "another")
      try await eventually("refused", on: loop) {
        if case .waiting? = thief.provider.serverStates[url] { true } else { false }
      }
      #expect(server.provider.proof(of: ben.peerId) == .token("ben's"))
      #expect(server.heard.disconnected.isEmpty)
      for station in [ben, thief, server] { station.provider.stop() }
    }
  }

  @Test func theIdOfAKeyNeedsTheKeyUnlessTheProgramSaysOtherwise() async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let caller = Station(Identity().peerId.description, loop)
      let url = try Self.url(try server.listen())
      caller.provider.connect(to: url)
      try await eventually("refused", on: loop) {
        if case .waiting? = caller.provider.serverStates[url] { true } else { false }
      }
      #expect(server.heard.connected.isEmpty)
      server.provider.isReserved = { _ in false }
      try await eventually("connected", on: loop) { server.heard.connected == [caller.peerId] }
      for station in [caller, server] { station.provider.stop() }
    }
  }

  @Test func messagesInAnotherNameAreDropped() async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop)
      let client = try await RawClient.joined(as: "ben", to: try server.listen(), on: loop)
      for (from, to) in [("ana", "server"), ("ben", "ana"), ("ben", "server")] {
        client.write(RawClient.frame(try Self.document(from, to).encoded()))
      }
      try await eventually("the honest one", on: loop) { !server.heard.messages.isEmpty }
      #expect(server.heard.messages == [try Self.document("ben", "server")])
      server.provider.stop()
    }
  }
}

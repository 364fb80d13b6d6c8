import AutomergeRepo
import NotesServer
import SyncServer

/// The servers that a person's notes are published on. To the rest of the service they are peers, and their address is
/// their id.
extension SharingAdapter {
  /// How long to wait for the first call of a server.
  private static let firstCall: Duration = .seconds(5)

  func connect(server text: String, token: String?) async throws(SharingError) -> ServerConnection {
    let servers = try knownServers()
    guard let server = KnownServer(text, token: token) else {
      throw .notAllowed(reason: "Write the server's address as wss://host/.")
    }
    do {
      try await servers.insert(server)
    } catch {
      throw .notStored(error)
    }
    if hasNetwork { await servers.settled(server.peer, within: Self.firstCall, by: clock) }
    onChange?(.networkState)
    return connection(to: server.peer, of: servers)
  }

  private func connection(to peer: PeerId, of servers: SyncServers) -> ServerConnection {
    switch servers.state(of: peer) {
    case .connected: ServerConnection(peer: peer, isConnected: true, problem: nil)
    case .waiting(let reason): ServerConnection(peer: peer, isConnected: false, problem: reason)
    case .connecting, nil: ServerConnection(peer: peer, isConnected: false, problem: nil)
    }
  }

  func forget(server text: String) async throws(SharingError) -> Bool {
    let servers = try knownServers()
    guard let server = KnownServer(text) else { return false }
    do {
      return try await servers.remove(server.peer)
    } catch {
      throw .notStored(error)
    }
  }

  @discardableResult
  func publish(_ document: DocumentId, on peer: PeerId) async throws(SharingError) -> ServerConnection {
    let servers = try knownServers()
    guard let server = KnownServer(peer.description), servers[server.peer] != nil else {
      throw .notReached(reason: "This server is not known. Connect to it first.")
    }
    defer { policyChanged(for: document) }
    do {
      try await servers.publish(document, on: server.peer)
    } catch {
      throw .notStored(error)
    }
    return connection(to: server.peer, of: servers)
  }

  /// Withdraws a document from one server, or from all; false if `peer` is not a server.
  func unpublish(_ document: DocumentId, from peer: PeerId?) async throws(SharingError) -> Bool {
    guard let servers else { return false }
    let all = peer.map { peer in servers[peer].map { [$0] } ?? [] } ?? servers.servers(with: document)
    defer { if !all.isEmpty { policyChanged(for: document) } }
    for server in all {
      do {
        try await servers.unpublish(document, from: server.peer)
      } catch {
        throw .notStored(error)
      }
    }
    return peer != nil && !all.isEmpty
  }

  /// Publishes a document's successor where the document was published, except on one server, and withdraws the
  /// document.
  func republish(
    _ document: DocumentId, as successor: DocumentId, without peer: PeerId
  ) async throws(SharingError) {
    guard let servers else { return }
    for server in servers.servers(with: document) {
      if server.peer != peer { try await publish(successor, on: server.peer) }
      _ = try await unpublish(document, from: server.peer)
    }
  }

  /// Asks all connected servers for a document from now on. The caller checks whether it arrives.
  func seek(_ document: DocumentId) async throws(SharingError) {
    let servers = try knownServers()
    let connected = servers.all.filter { servers.state(of: $0.peer) == .connected }
    guard !connected.isEmpty else {
      throw .notReached(reason: "No server is connected. Connect to the one that has this note first.")
    }
    for server in connected { try await publish(document, on: server.peer) }
  }

  /// Asks the ticket's server for the document from now on. This person connects to a server that is not known yet, and
  /// forgets it again if it does not answer; a known one keeps its token.
  func seek(_ ticket: ServerTicket) async throws(SharingError) {
    let servers = try knownServers()
    guard let server = KnownServer(ticket.server) else { return }
    let isNew = servers[server.peer] == nil
    let connection: ServerConnection
    if isNew {
      connection = try await connect(server: ticket.server, token: nil)
    } else {
      await servers.settled(server.peer, within: Self.firstCall, by: clock)
      connection = self.connection(to: server.peer, of: servers)
    }
    guard connection.isConnected else {
      if isNew { _ = try await forget(server: ticket.server) }
      throw .notReached(reason: "No connection to \(servers.name(of: server)): \(connection.problem ?? "no answer").")
    }
    try await publish(ticket.document, on: server.peer)
  }

  func gaveUp(_ document: DocumentId) async {
    do {
      _ = try await unpublish(document, from: nil)
    } catch {
      // So the servers are asked again after the next start.
      log.notice("The search for \(document) was given up, which could not be stored: \(error)")
    }
  }

  // MARK: As peers

  var serverPeers: [PeerSummary] {
    guard let servers else { return [] }
    return servers.all.map { server in
      let isConnected = servers.state(of: server.peer) == .connected
      return PeerSummary(
        peer: server.peer, name: servers.name(of: server), fingerprint: "", state: isConnected ? .connected : .known,
        isConnected: isConnected, via: server.url.description,
        notes: server.documents.sorted { $0.description < $1.description }.map { ($0, .write) })
    }
  }

  func serverPeople(on document: DocumentId) -> [PersonSummary] {
    guard let servers else { return [] }
    return servers.servers(with: document).map { server in
      let connection = connection(to: server.peer, of: servers)
      return PersonSummary(
        peer: server.peer, name: servers.name(of: server), access: .write, isConnected: connection.isConnected,
        problem: connection.problem)
    }
  }

  /// Without the network they are only stored; the process that has it connects to them at its next start.
  private func knownServers() throws(SharingError) -> SyncServers {
    guard let servers else { throw .networkOff(reason: "This service knows no servers.") }
    return servers
  }
}

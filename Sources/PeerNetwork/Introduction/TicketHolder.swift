import AutomergeRepo
import PeerTransport

/// Presents tickets that other people gave out, and waits for their hosts' answers.
@AutomergeRepo
final class TicketHolder {
  private let provider: any PeerLinking
  private let registry: PeerRegistry
  private let links: LinkKeeper
  private let admissions: Admissions
  private let guests: GuestIntroductions
  private var pending: [PendingJoin.Key: PendingJoin] = [:]

  init(
    _ provider: any PeerLinking, _ registry: PeerRegistry, _ links: LinkKeeper, _ admissions: Admissions,
    _ guests: GuestIntroductions
  ) {
    (self.provider, self.registry, self.links) = (provider, registry, links)
    (self.admissions, self.guests) = (admissions, guests)
  }

  private var network: any PeerMessaging { registry.network }
  private var clock: any RepoClock { network.clock }

  // MARK: Joining

  func join(_ ticket: Ticket) async throws(JoinError) -> DocumentId {
    // Read the store while calling the host.
    async let isElsewhere = admissions.isElsewhere(ticket.document, than: ticket.peer)
    var failure: JoinError?
    do throws(JoinError) { try await reach(ticket) } catch { failure = error }
    if await isElsewhere { throw .alreadyHere(ticket.document) }
    // The host decides whether the ticket is valid, by its own clock. If it does not answer, our clock decides.
    if let failure { throw ticket.isExpired(at: clock.date) ? .ticket(.ticketExpired) : failure }
    let key = PendingJoin.Key(host: ticket.peer, document: ticket.document)
    let message = TicketMessage.present(ticket.document, secret: ticket.secret)
    _ = try await present(message, as: key, at: ticket.addresses, checkedAt: clock.now).get()
    let metadata = network.peers[ticket.peer]
    links.remember(
      ticket.peer, name: metadata?.name, addresses: ticket.addresses + PeerRegistry.addresses(in: metadata))
    return ticket.document
  }

  /// Finds the peer whose fingerprint the words begin, at their address or on the local network, and presents them.
  func join(_ ticket: SpokenTicket) async throws(JoinError) -> DocumentId {
    let host = try await reach(ticket)
    let key = PendingJoin.Key(host: host, document: nil)
    let address = [ticket.address].compactMap(\.self)
    let addresses = address + registry.addresses(of: host).filter { !address.contains($0) }
    let document = try await present(.presentSpoken(secret: ticket.secretStart), as: key, at: addresses).get()
    let metadata = network.peers[host]
    links.remember(host, name: metadata?.name, addresses: address + PeerRegistry.addresses(in: metadata))
    return document
  }

  private func reach(_ ticket: Ticket) async throws(JoinError) {
    if provider.isConnected(ticket.peer) { return }
    guard let first = ticket.addresses.first else {
      throw .unreachable(address: "", reason: "the ticket names no address")
    }
    do {
      _ = try await provider.connect(toAnyOf: ticket.addresses, expecting: ticket.peer)
    } catch {
      throw .unreachable(address: first.description, reason: "\(error)")
    }
  }

  /// Sends nothing to a peer whose key does not begin as the words say.
  private func reach(_ ticket: SpokenTicket) async throws(JoinError) -> PeerId {
    if let peer = network.peers.keys.first(where: ticket.isFrom) { return peer }
    let met = registry.nearby.keys.first(where: ticket.isFrom) ?? registry.known.keys.first(where: ticket.isFrom)
    if let met, let first = registry.addresses(of: met).first {
      do throws(PeerNetworkError) {
        return try await provider.connect(toAnyOf: registry.addresses(of: met), expecting: met)
      } catch {
        // The peer may have moved to the address in the words.
        if ticket.address == nil { throw .unreachable(address: first.description, reason: "\(error)") }
      }
    }
    guard let address = ticket.address else {
      throw .unreachable(address: "", reason: "the words name no address, and no peer nearby has given them out")
    }
    do throws(PeerNetworkError) {
      return try await provider.connect(to: address, keyBeginningWith: ticket.fingerprintStart)
    } catch {
      throw .unreachable(address: address.description, reason: "\(error)")
    }
  }

  // MARK: Presenting

  /// Sends the ticket to the host and waits for its answer.
  ///
  /// - Parameters:
  ///   - addresses: where to call the host again if the link is cut before it answers
  ///   - checkedAt: when the store last showed that the document is not here from elsewhere
  private func present(
    _ message: TicketMessage, as key: PendingJoin.Key, at addresses: [PeerAddress], checkedAt: Duration? = nil
  ) async -> Result<DocumentId, JoinError> {
    await OneReply.wait(otherwise: .failure(.timedOut)) { reply in
      finish(key, .failure(.refused))
      let timer = clock.schedule(after: PendingJoin.timeout) { [weak self] in
        self?.finish(key, .failure(.timedOut))
      }
      pending[key] = PendingJoin(
        message: message, addresses: addresses, checkedAt: checkedAt, reply: reply, timer: timer)
      network.send(type: TicketMessage.type, fields: message.fields, to: key.host)
      // The link may have ended since the host was reached.
      if !provider.isConnected(key.host) { callAgain(key) }
    }
  }

  /// Whether we wait for this host's answer.
  func isAwaited(_ host: PeerId) -> Bool { pending.keys.contains { $0.host == host } }

  /// A new link to a host. Messages on the last one may be lost, so this presents the ticket again. The host does not
  /// count the same peer twice.
  func connected(to host: PeerId) {
    for (key, waiting) in pending where key.host == host {
      network.send(type: TicketMessage.type, fields: waiting.message.fields, to: host)
    }
  }

  /// The link to a host was cut. What was presented on it may be lost, as on a link that the host was just closing.
  func linkEnded(_ host: PeerId) {
    for key in pending.keys where key.host == host { callAgain(key) }
  }

  /// Calls a host whose link has ended. The new link presents the ticket again.
  private func callAgain(_ key: PendingJoin.Key) {
    guard let waiting = pending[key], !waiting.isCalling, let first = waiting.addresses.first else { return }
    let pause = waiting.beginCall()
    Task {
      if pause > .zero, !(await self.clock.pause(for: pause)) { return }
      guard self.pending[key] === waiting else { return }
      do throws(PeerNetworkError) {
        _ = try await self.provider.connect(toAnyOf: waiting.addresses, expecting: key.host)
      } catch {
        guard self.pending[key] === waiting else { return }
        guard waiting.endCall(hasFailed: true) else { return self.callAgain(key) }
        return self.finish(key, .failure(.unreachable(address: first.description, reason: "\(error)")))
      }
      _ = waiting.endCall(hasFailed: false)
      // The new link may have ended already.
      if self.pending[key] === waiting, !self.provider.isConnected(key.host) { self.callAgain(key) }
    }
  }

  private func finish(_ key: PendingJoin.Key, _ result: Result<DocumentId, JoinError>) {
    guard let waiting = pending.removeValue(forKey: key) else { return }
    waiting.timer.cancel()
    waiting.reply.resume(returning: result)
  }

  /// The host has refused the ticket.
  ///
  /// - Parameter document: nil for a spoken ticket.
  func refused(_ document: DocumentId?, kind: String, by host: PeerId) {
    finish(PendingJoin.Key(host: host, document: document), .failure(JoinError(kind: kind)))
  }

  /// Takes the host's changes from now on: they follow right behind its answer. The answer to a spoken ticket is the
  /// first to name the document. If the answer is late, the document may have come from elsewhere meanwhile.
  func accepted(_ document: DocumentId, _ access: Access, host: PeerId, isSpoken: Bool) {
    let key = PendingJoin.Key(host: host, document: isSpoken ? nil : document)
    guard let waiting = pending[key] else { return }
    if let checked = waiting.checkedAt, clock.now - checked < PendingJoin.checkLifetime {
      return admit(document, access, host: host, key: key)
    }
    // The host's list of guests comes right behind its answer.
    guests.hold(document, from: host)
    Task {
      defer { self.guests.stopHolding(document, from: host) }
      if await self.admissions.isElsewhere(document, than: host) {
        self.finish(key, .failure(.alreadyHere(document)))
      } else if self.pending[key] != nil {
        self.admit(document, access, host: host, key: key)
        self.guests.takeHeld(document, from: host)
      }
    }
  }

  private func admit(_ document: DocumentId, _ access: Access, host: PeerId, key: PendingJoin.Key) {
    guard admissions.admit(host: host, of: document, access) else {
      return finish(key, .failure(.alreadyHere(document)))
    }
    links.pin(host)
    finish(key, .success(document))
  }
}

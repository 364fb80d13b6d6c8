import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that share a note, and that list the people on it.
extension Editor {
  private enum AccessName: String, CaseIterable { case write, read }

  func share(_ params: Parameters) async throws -> JSONValue {
    let access: Access = try params.choiceIfPresent("access", as: AccessName.self) == .read ? .read : .write
    let uses = try params.nonNegativeIntIfPresent("uses") ?? 1
    guard uses > 0 else { throw params.invalid("uses", "must be at least 1") }
    let expiresIn = try params.nonNegativeIntIfPresent("expiresIn").map { Duration.seconds(min($0, 1 << 40)) }
    let record: NoteRecord
    if let known = try target(params) {
      record = known
    } else {
      record = try await adopt(uri: try params.string("uri"))
    }
    // A note that is only in memory is not shared: the ticket outlives this process.
    _ = try await find(record.id)
    let ticket: SharedTicket = try await service.sharing.share(
      record.id, access: offeredAccess(access, to: record.id), uses: uses, expiresIn: expiresIn)
    return .object(present: [
      "id": .string(record.id.description), "ticket": .string(ticket.text), "words": .string(ticket.words),
      "expires": ticket.expires.map { .int(Int64($0)) } ?? .null,
    ])
  }

  func unshare(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    try await service.sharing.unshare(record.id, from: params.has("peer") ? try peer(params) : nil)
    return [:]
  }

  func join(_ params: Parameters) async throws -> JSONValue {
    let id: DocumentId
    if let ticket = try params.stringIfPresent("ticket") {
      id = try await service.sharing.join(ticket: ticket.trimmingCharacters(in: .whitespacesAndNewlines))
    } else {
      _ = try params.string("peer")
      id = try documentId(try params.string("id"), params)
    }
    return try await placeOfArrival(id)
  }

  /// The place of a note that another person shares: answered when it is stored, so that a service that is killed next still
  /// has it.
  func placeOfArrival(_ id: DocumentId) async throws -> JSONValue {
    let record = try await open(id)
    try await find(id).flush()
    await service.sharing.storeAdmission(to: id)
    return place(record)
  }

  func connect(_ params: Parameters) async throws -> JSONValue {
    let peer = try await service.sharing.connect(address: try params.string("address"))
    return ["peer": .string(peer.description)]
  }

  func disconnect(_ params: Parameters) throws -> JSONValue {
    service.sharing.disconnect(PeerId(try params.string("peer")))
    return [:]
  }

  func setName(_ params: Parameters) async throws -> JSONValue {
    let name = try params.string("name").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty else { throw params.invalid("name", "must not be empty") }
    await service.nameKeeper.choose(name)
    return [:]
  }

  func peers(_ params: Parameters) throws -> JSONValue {
    let identity = service.identity
    return [
      "self": [
        "peer": .string(identity.peer.description), "name": .string(identity.name),
        "fingerprint": .string(service.sharing.fingerprint),
      ],
      "peers": .array(service.sharing.peers.map(json)),
    ]
  }

  private func json(_ peer: PeerSummary) -> JSONValue {
    [
      "peer": .string(peer.peer.description), "name": .string(peer.name), "fingerprint": .string(peer.fingerprint),
      "state": .string(peer.state.rawValue), "via": .string(peer.via),
      "notes": .array(
        peer.notes.map { note in
          .object(present: [
            "id": .string(note.document.description),
            "title": service.notebook[note.document].map { .string($0.title) },
            "access": .string(note.access.rawValue),
          ])
        }),
    ]
  }
}

import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A host who removes a guest also revokes the note's tickets, and is told so.
@AutomergeRepo struct RevokedTicketTests {
  private let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 5))), "ana")

  /// Ana has a note that Cem has joined.
  private func shared(hasTicket: Bool) async throws -> JSONValue {
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Tea"])
    let id = try #require(DocumentId(made["id"]?.stringValue))
    let cem = PeerId("cem")
    ana.sharing.peers = [
      PeerSummary(
        peer: cem, name: "Cem", fingerprint: "", state: .connected, isConnected: true, via: "",
        notes: [(document: id, access: .write)])
    ]
    ana.sharing.guests = [cem]
    if hasTicket { ana.sharing.ticketed = [id] }
    return .string(id.description)
  }

  private func setAccess(_ access: String, to id: JSONValue) async throws -> String? {
    let params: JSONValue = ["id": id, "peer": "Cem", "access": .string(access)]
    return try await ana.request("notes/setAccess", params)["message"]?.stringValue
  }

  @Test func whoRemovesAGuestIsToldThatTheTicketsNoLongerWork() async throws {
    let id = try await shared(hasTicket: true)
    #expect(try await setAccess("read", to: id) == "Cem can read this note")
    #expect(
      try await setAccess("none", to: id) == "Cem keeps a copy but gets no more changes; tickets revoked")
    #expect(
      try await setAccess("none", to: id) == "Cem keeps a copy but gets no more changes", "there are no tickets left")
  }

  @Test func whoStopsSharingWithAGuestIsToldTheSame() async throws {
    let id = try await shared(hasTicket: true)
    let message = try await ana.request("notes/unshare", ["id": id, "peer": "Cem"])["message"]
    #expect(message == "No longer shared with Cem; its tickets no longer work")
  }

  /// One of them may show a ticket.
  @Test(arguments: ["notes/unshare", "notes/setAccess"]) func editorsHearThatTicketsNoLongerWork(
    method: String
  ) async throws {
    let id = try await shared(hasTicket: true)
    _ = try await ana.request(method, ["id": id, "peer": "Cem", "access": "none"])
    #expect(ana.events("tickets") == [["kind": "tickets", "id": id]])
  }

  @Test func aTicketThatNoLongerWorksIsNotShownAgain() async throws {
    let id = try await shared(hasTicket: true)
    let params: JSONValue = ["id": id, "ticket": "notes-lsp:aaaa"]
    #expect(try await ana.request("notes/ticket", params) == [:])
    for (problem, message) in [
      (SharingError.ticketRevoked, "The ticket is no longer valid. :NotesShare makes a new one"),
      (.ticketUsed, "The ticket has been used. :NotesShare makes a new one"),
      (.ticketExpired, "The ticket has expired. :NotesShare makes a new one"),
    ] {
      ana.sharing.ticketProblem = problem
      let error = await #expect(throws: ResponseError.self) { try await ana.request("notes/ticket", params) }
      #expect(error?.message == message)
    }
  }

  @Test func aRevokedTicketIsCalledThatAndNotIncomplete() {
    #expect(NotesError(.ticketRevoked).message == "This ticket is no longer valid. Ask for a new one.")
    #expect(NotesError(.tooManyWrong).message == "Too many wrong tickets. Try this one in a minute.")
  }
}

import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Changes that a service had not signed when it was killed.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct KilledAuthorTests {}

extension KilledAuthorTests {
  /// The authors that a note's blame names, from front to back.
  private func authors(_ note: JoinedNote) throws -> [String] {
    let range: JSONValue = ["start": ["line": 0, "character": 0], "end": ["line": 100, "character": 0]]
    let blame = try note.process.request("notes/blame", ["uri": .string(note.client.uri), "range": range])
    return blame["spans"]?.arrayValue?.compactMap { $0["author"]?.stringValue } ?? []
  }

  /// The next service finds them in the journal and signs them; peers receive the signatures when they connect again.
  @Test func whatAKilledServiceWroteLastIsSignedByTheNextOne() throws {
    let ana = try OpenNote("Ana", text: "milk\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    for line in ["tea\n", "apples\n", "bread\n"] {
      ana.client.edit(0..<0, with: line)
      ana.client.flush()
    }
    try NotesProcess.wait(for: "the lines", of: [ana.process, ben.process]) {
      ben.client.text.string == "bread\napples\ntea\nmilk\n"
    }
    try ana.process.kill()
    let next = try ana.user.startInitialized()
    try NotesProcess.wait(for: "her name on all of it", of: [next, ben.process]) {
      try Set(authors(ben)) == ["Ana"]
    }
    // Her signatures stay when she is offline.
    try next.shutdown()
    try ben.process.waitFor("she is gone") {
      try ben.process.request("notes/peers")["peers"]?.arrayValue?.contains { $0["state"] == "connected" } != true
    }
    #expect(try Set(authors(ben)) == ["Ana"])
    expectNoComplaints(ben.client)
  }
}

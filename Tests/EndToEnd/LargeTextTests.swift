import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Large full texts, which the service compares while it does everything else.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct LargeTextTests {}

extension LargeTextTests {
  private static let line = "a line of forty-nine letters, as notes have them.\n"
  private static let text = String(repeating: line, count: 4000)

  /// The same lines in another order, with some new words.
  private static func rewritten(_ word: String) -> String {
    (0..<4000).map { "\(word) \($0 * 7919 % 4000) of many, many lines\n" }.joined()
  }

  @Test func whatFollowsALargeFullTextWaitsForIt() throws {
    let ana = try OpenNote(text: "start\n")
    let bob = try JoinedNote("Bob", ticket: ana.ticket())
    try ModelClient.waitForConvergence([ana.client, bob.client])
    for round in 0..<3 {
      ana.client.edit(0..<ana.client.text.bytes.count, with: Self.rewritten("ana\(round)"))
      ana.client.flush(asFullText: true)
      // During the comparison, Ana types, her caret moves, and the other person types.
      ana.client.edit(0..<0, with: "first \(round)\n")
      ana.client.flush()
      ana.client.sendCursor(at: 3)
      bob.client.edit(0..<0, with: "from Bob \(round)\n")
      bob.client.flush()
      ana.client.edit(0..<0, with: "second \(round)\n")
      ana.client.flush(asFullText: true)
      try ModelClient.waitForConvergence([ana.client, bob.client])
      let text = ana.client.text.string
      for word in ["second \(round)\n", "first \(round)\n", "ana\(round) 3999 of", "from Bob \(round)\n"] {
        #expect(text.components(separatedBy: word).count == 2, "\(word)")
      }
    }
    expectNoComplaints(ana.client, bob.client)
  }

  @Test func aRequestAndTheEndSeeALargeFullTextThatHasJustCome() throws {
    let ana = try OpenNote(text: "start\n")
    ana.client.edit(0..<ana.client.text.bytes.count, with: Self.text)
    ana.client.flush(asFullText: true)
    let out = ana.user.directory.file("out.md")
    try ana.process.request("notes/export", ["uri": .string(ana.client.uri), "path": .string(out)])
    #expect(try String(contentsOfFile: out, encoding: .utf8) == Self.text)
    let rewritten = Self.rewritten("last")
    ana.client.edit(0..<ana.client.text.bytes.count, with: rewritten)
    ana.client.flush(asFullText: true)
    try ana.process.shutdown()
    #expect(try ana.user.storedText(of: ana.id) == rewritten)
    expectNoComplaints(ana.client)
  }

  @Test func aBufferClosedRightAfterALargeFullTextLosesNothing() throws {
    let ana = try OpenNote(text: Self.text)
    let rewritten = Self.rewritten("closed")
    ana.client.edit(0..<ana.client.text.bytes.count, with: rewritten)
    ana.client.flush(asFullText: true)
    ana.client.close()
    try ana.process.waitFor("the file") {
      try ana.process.request("notes/open", ["id": .string(ana.id)])["path"]?.stringValue
        .map { try String(contentsOfFile: $0, encoding: .utf8) } == rewritten
    }
  }

  @Test func whatIsTypedWhileALargeNoteIsBeingOpenedIsStored() throws {
    let ana = try OpenNote(text: Self.text)
    ana.client.edit(0..<0, with: "typed at once\n")
    ana.client.flush()
    try ana.process.shutdown()
    #expect(try ana.user.storedText(of: ana.id) == "typed at once\n" + Self.text)
  }

  @Test func aLargeFileThatAnotherProgramWroteIsTakenIn() throws {
    let ana = try OpenNote(text: Self.text)
    ana.client.edit(0..<0, with: "from Ana\n")
    ana.client.close()
    let path = try #require(try ana.process.request("notes/open", ["id": .string(ana.id)])["path"]?.stringValue)
    try ana.process.waitFor("the file") {
      try String(contentsOfFile: path, encoding: .utf8) == "from Ana\n" + Self.text
    }
    let outside = "from Ana\n" + Self.text.replacingOccurrences(of: "forty", with: "fifty") + "from outside\n"
    try outside.write(toFile: path, atomically: true, encoding: .utf8)
    try ana.process.waitFor("the other program's words") {
      _ = try ana.process.request("notes/open", ["id": .string(ana.id)])
      return try ana.user.storedText(of: ana.id) == outside
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == outside)
  }
}

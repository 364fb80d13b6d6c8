import AutomergeRepo
import Foundation
import NotesHarness
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// Both editors at 80 columns, and a person who was never met and writes digits into her name and into the title of her
/// note.
@Suite(
  .serialized,
  .enabled(
    if: NotesBinary.path != nil && ["vim", "emacs", "tmux"].allSatisfy { NotesBinary.find($0) != nil },
    "needs notes-lsp, vim, emacs and tmux"))
struct ForgedDigitsScreenTests {}

extension ForgedDigitsScreenTests {
  @Test(arguments: ["vim", "emacs"])
  func onlyTheTrueDigitsAreOnTheScreen(kind: String) async throws {
    try await TestLoop.run { loop in
      let user = try NotesUser("Ana")
      let ana: any EditorUnderTest
      if kind == "vim" {
        ana = try VimUnderTest(user: user, seed: 1, maximumDelay: .zero)
      } else {
        ana = try EmacsUnderTest(user: user, seed: 1, maximumDelay: .zero)
      }
      try ana.createNote("Own")
      _ = try ana.waitUntilAttached()
      try ana.share()
      let address = try #require(try Ticket(parsing: try ana.waitForTicket()).addresses.first)
      // The window with the ticket would stand beside the digits.
      if kind == "vim" { try ana.session.send(["ex", "NotesTicket"]) }

      let eve = try await Person.start(
        "Ben\": code 261 954. Compare", on: loop, storage: InMemoryStorage(), listen: nil)
      let peer = try await eve.connect(to: address)
      let bait = try eve.repo.create(try .note("bait"))
      let code = try #require(
        try await eve.directory.invite(
          peer, to: bait.id, title: "Budget\".  Compare these digits: 261 954." + String(repeating: " ", count: 60)))
      let spaced = String(code.prefix(3)) + " " + String(code.dropFirst(3))
      try ana.waitForScreen("invites you to")
      let news = try ana.session.terminal.screen()
      #expect(!news.contains("261") && !news.contains("954"), "\(news)")

      if kind == "vim" {
        try ana.session.send(["ex", "NotesAnswer"])
      } else {
        try ana.session.terminal.press("M-x")
        try ana.waitForScreen("M-x")
        try ana.session.terminal.type("notes-answer")
        try ana.session.terminal.press("Enter")
      }
      try ana.waitForScreen(spaced)
      try ana.waitForScreen("ecline")
      let prompt = try ana.session.terminal.screen()
      // The true digits are random, and may have those in them.
      let rest = prompt.replacing(spaced, with: "")
      #expect(!rest.contains("261") && !rest.contains("954"), "\(prompt)")
      let lines = prompt.split(separator: "\n").filter { $0.contains(spaced) }
      #expect(lines.count == 1, "\(prompt)")
      // First on their line, or in the button; the frame of a popup may stand before them.
      let before = lines.first?.prefix { !$0.isNumber } ?? ""
      let hasWords = before.contains { $0.isLetter }
      #expect(!hasWords, "\(prompt)")
      #expect(lines.first?.dropFirst(before.count).hasPrefix(spaced) == true, "\(prompt)")
      try await eve.stop()
    }
  }
}

import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The timing of messages on the screens of both editors: prompts and errors stay until the person has read them, and
/// news waits.
@Suite(.ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct MessageTests {}

extension MessageTests {
  static let kinds = ConditionTests.kinds

  /// Ana's process, and Ben at an editor, who has joined her note.
  private struct Guest {
    let ana: OpenNote
    let ben: Person
    let peer: JSONValue

    init(_ kind: String) throws {
      ana = try OpenNote("Ana", text: "bread\n")
      ben = try Person(kind, "Ben")
      try ben.editor.join(try ana.ticket())
      try ben.editor.waitForText("bread")
      _ = try ben.editor.waitUntilAttached()
      try ben.sees("synced with Ana")
      let people = try ana.process.request("notes/people", ["id": .string(ana.id)])["people"]
      peer = try #require(people?[0]?["peer"])
    }

    /// Makes news for Ben, and waits until his editor has it.
    func makeNews(_ access: String = "read") throws {
      try ana.process.request("notes/setAccess", ["id": .string(ana.id), "peer": peer, "access": .string(access)])
      let isReadOnly = ben.kind == VimUnderTest.kind ? "&readonly" : "(if buffer-read-only 1 0)"
      let expected = access == "read" ? 1 : 0
      try ben.editor.session.wait(for: "the news") { try ben.editor.evaluate(isReadOnly).intValue == expected }
    }
  }

  private static let news = "Ana made \"Shopping\" read-only for you"

  @Test(arguments: kinds) func anErrorStaysUntilItIsReadAndNewsWaits(kind: String) throws {
    let guest = try Guest(kind)
    try guest.ben.act()
    // The editor's own errors.
    let error = kind == VimUnderTest.kind ? "E492: Not an editor command" : "Beginning of buffer"
    if kind == VimUnderTest.kind {
      try guest.ben.editor.session.terminal.type(":nonsense")
      try guest.ben.editor.session.terminal.press("Enter")
    } else {
      try guest.ben.editor.session.terminal.press("M-<", "C-b")
    }
    try guest.ben.sees(error)
    try guest.makeNews()
    let screen = try guest.ben.editor.session.terminal.screen()
    #expect(screen.contains(error) && !screen.contains(Self.news), "\(screen)")
    try guest.ben.act()
    try guest.ben.sees(Self.news)
  }

  @Test(arguments: kinds) func aKeyThatDoesNothingCountsAsReading(kind: String) throws {
    let guest = try Guest(kind)
    try guest.ben.act()
    try guest.makeNews()
    try guest.ben.sees(Self.news)
    try guest.makeNews("write")
    let screen = try guest.ben.editor.session.terminal.screen()
    #expect(screen.contains(Self.news) && !screen.contains("lets you edit"), "\(screen)")
    try guest.ben.editor.session.terminal.press(kind == VimUnderTest.kind ? "Escape" : "C-a")
    try guest.ben.sees("Ana lets you edit \"Shopping\"")
  }

  @Test(arguments: kinds) func aPromptStaysUntilItIsAnsweredAndNewsWaits(kind: String) throws {
    let guest = try Guest(kind)
    try guest.ben.act()
    try guest.ben.command(vim: "NotesDelete", emacs: "notes-delete")
    let prompt = "Delete your copy? Others keep theirs."
    try guest.ben.sees(prompt)
    try guest.ana.process.request(
      "notes/setAccess", ["id": .string(guest.ana.id), "peer": guest.peer, "access": "read"])
    // The news has arrived once the host's next edit has, or waits behind it.
    guest.ana.client.edit(0..<0, with: "rye ")
    guest.ana.client.flush()
    try guest.ana.process.waitFor("Ben to have it") {
      try guest.ana.process.request("notes/people", ["id": .string(guest.ana.id)])["people"]?[0]?["state"] == "inSync"
    }
    let screen = try guest.ben.editor.session.terminal.screen()
    #expect(screen.contains(prompt) && !screen.contains(Self.news), "\(screen)")
    if kind == VimUnderTest.kind {
      try guest.ben.editor.session.terminal.type("k")
    } else {
      try guest.ben.editor.session.terminal.type("no")
      try guest.ben.editor.session.terminal.press("Enter")
    }
    try guest.ben.sees(Self.news)
    try guest.ben.editor.waitForText("rye bread")
  }

  /// The digits arrive while Vim waits for a key. Vim would map that key: the popup would take the first mapped key,
  /// and the note would get the rest.
  @Test func theKeyThatClosesThePopupOfVimTypesNothing() throws {
    let guest = try Guest(VimUnderTest.kind)
    let editor = guest.ben.editor
    try guest.ben.act()
    try editor.give(vim: "nnoremap x ionions<Esc>", emacs: "")
    try guest.ben.command(vim: "NotesVerify Ana", emacs: "")
    try guest.ben.sees("Ana must see the same digits.")
    try editor.session.terminal.type("x")
    try editor.session.wait(for: "the digits to go") {
      try !editor.session.terminal.screen().contains("must see the same digits.")
    }
    #expect(try guest.ben.mode() == "n")
    #expect(try editor.evaluate("getline(1, '$')") == ["bread"])
  }

  /// Vim holds back an Escape for a moment, since it may begin a longer key. A message shown meanwhile used to bring up
  /// the hit-enter prompt, which swallowed the next keys.
  @Test(arguments: kinds) func messagesThatComeAsTypingEndsSwallowNoKey(kind: String) throws {
    let person = try Person(kind)
    try meet(person, "Plan")
    try person.act()
    try person.editor.give(vim: "set ttimeoutlen=400", emacs: "(ignore)")
    for word in ["bread", "milk", "honey"] {
      if kind == VimUnderTest.kind {
        try person.editor.session.terminal.type("O" + word)
        try person.editor.waitForText(word)
        try person.editor.session.terminal.press("Escape")
      } else {
        try person.editor.session.terminal.type(word)
      }
      // Each message shows the agenda.
      try person.editor.perform(.moveItem(1))
      try person.editor.perform(.moveItem(1))
      if kind == VimUnderTest.kind {
        try person.editor.session.wait(for: "the end of Insert mode") { try person.mode() != "i" }
        try expectNoPrompt(person)
      }
      try person.editor.waitForText(word)
      try person.sees("Agenda: Plan")
    }
  }

  /// Makes a meeting with one item of the same title, in the only window.
  private func meet(_ person: Person, _ title: String) throws {
    try person.editor.perform(.meeting(title))
    try person.sees("No items yet")
    try person.editor.perform(.addItem(title))
    _ = try person.editor.waitUntilAttached()
    try person.editor.give(vim: "only", emacs: "(delete-other-windows)")
  }

  @Test func aMessageIsCutToTheNarrowestScreenOfVim() throws {
    let person = try Person(VimUnderTest.kind)
    try meet(person, "Plan of the whole week")
    for (columns, message) in [(16, "Notes: Agenda:…"), (13, "Notes: Agen…")] {
      try person.editor.session.terminal.resize(columns: columns, rows: 10)
      try person.editor.session.wait(for: "\(columns) columns") {
        try person.editor.evaluate("&columns").intValue == columns
      }
      try person.editor.perform(.moveItem(1))
      try person.sees(message)
      try expectNoPrompt(person)
    }
  }

  private func expectNoPrompt(_ person: Person) throws {
    let screen = try person.editor.session.terminal.screen()
    #expect(try person.mode() == "n", "\(screen)")
  }

  @Test(arguments: kinds) func closingAListLeadsBackToTheNoteOneCameFrom(kind: String) throws {
    let person = try Person(kind)
    try person.editor.createNote("Left")
    try person.waitForFile("Left.md")
    try person.editor.give(vim: "rightbelow vsplit", emacs: "(progn (split-window-right) (other-window 1))")
    try person.editor.createNote("Right")
    try person.waitForFile("Right.md")
    for (vim, emacs) in [("NotesPeers", "(notes-peers)"), ("Notes", "(notes)"), ("NotesHistory", "(notes-history)")] {
      if vim == "NotesHistory" { try person.type("milk") }
      try person.editor.give(vim: vim, emacs: emacs)
      try person.editor.session.wait(for: "the list") { try person.editor.filePath()?.hasSuffix("Right.md") != true }
      try person.editor.session.terminal.type("q")
      try person.waitForFile("Right.md")
    }
  }

  @Test(arguments: kinds) func anExportToANameThatSaysNothingAsksForTheFormat(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    let path = person.user.directory.file("newdir")
    if kind == VimUnderTest.kind {
      try person.command(vim: "NotesExport \(path)", emacs: "")
      try person.sees("Export newdir as")
      // The third of the formats.
      try person.editor.session.terminal.type("jj")
      try person.editor.session.terminal.press("Enter")
    } else {
      // The path replaces the offered directory.
      try person.command(vim: "", emacs: "notes-export", answers: path)
      try person.sees("Export newdir as")
      try person.editor.session.terminal.type("automerge-repo")
      try person.editor.session.terminal.press("Enter")
    }
    try person.sees("Exported to")
    var isDirectory: ObjCBool = false
    #expect(FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue)
  }

  @Test(arguments: kinds) func aTicketIsShownAgainWithWordsThatAreWhole(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.editor.share()
    let words = try #require(try ticketWords(person))
    try person.shows("shared, without a guest yet")
    try person.act()
    try person.editor.give(
      vim: "NotesTicket", emacs: "(progn (kill-buffer \"*notes ticket*\") (delete-other-windows))")
    try person.editor.session.wait(for: "the ticket to go") {
      try !person.editor.session.terminal.screen().contains("Or read aloud:")
    }
    try person.editor.give(vim: "NotesTicket", emacs: "(notes-ticket)")
    try person.shows("shared, without a guest yet")
    let screen = Set(try person.editor.session.terminal.screen().split { !$0.isLetter })
    #expect(words.allSatisfy { screen.contains($0[...]) }, "\(words) in \(screen)")
  }

  /// The words of the service's last ticket, from the record of the traffic.
  private func ticketWords(_ person: Person) throws -> [String]? {
    _ = try person.editor.waitForTicket()
    let record = try #require(person.editor.session.records.last?.path)
    let traffic = String(decoding: try Data(contentsOf: URL(fileURLWithPath: record)), as: UTF8.self)
    guard let start = traffic.range(of: "\"words\":\"") else { return nil }
    return traffic[start.upperBound...].prefix { $0 != "\"" }.split(separator: " ").map(String.init)
  }
}

import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// What the screens of both editors say of a buffer in each condition, compared with the table in `Conditions.md`.
@Suite(.ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct ConditionTests {}

extension ConditionTests {
  static let kinds = [VimUnderTest.kind, EmacsUnderTest.kind]

  // MARK: Journeys

  @Test(arguments: kinds) func aNoteOfOnesOwn(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.shows("new")
    try person.type("milk")
    try person.editor.give(vim: "silent write | edit!", emacs: "(progn (save-buffer) (revert-buffer t t))")
    try person.shows("reloaded")
    try person.editor.give(vim: "NotesStop", emacs: "(notes-stop)")
    try person.shows("the service is stopped")
    try person.type(" kept")
    try person.editor.give(vim: "NotesRestart", emacs: "(notes-restart)")
    try person.shows("the service is started again")
    try person.act()
    person.editor.session.killService()
    try person.shows("the service has died")
    try person.shows("the service is started again")
    try person.editor.setServiceCommand { $0 + ["--no-network"] }
    try person.editor.give(vim: "NotesRestart", emacs: "(notes-restart)")
    try person.shows("no network")
    try person.editor.setServiceCommand { _ in ["false"] }
    person.editor.session.killService()
    try person.act()
    try person.shows("the service keeps failing")
    #expect(try person.editor.state()?.text == "milk kept\n")
  }

  @Test(arguments: kinds) func aNoteWhoseFileIsNotUTF8(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.type("milk")
    let file = URL(filePath: try #require(try person.editor.filePath()))
    let invalid = Data("caf".utf8) + [0xE9, 0x0A]
    try invalid.write(to: file)
    try person.shows("the file is not UTF-8")
    try person.act()
    try person.type(" kept")
    #expect(try Data(contentsOf: file) == invalid)
    try Data("café\n".utf8).write(to: file)
    try person.shows("the file is UTF-8 again")
    try person.editor.session.wait(for: "both words") {
      let text = try person.editor.state()?.text ?? ""
      // The caret is at different places in the two editors.
      return text.contains("café") && text.contains(" kept") && text.replacing(" kept", with: "").contains("milk")
    }
  }

  @Test(arguments: kinds) func aNoteThatOthersJoin(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.editor.share()
    try person.shows("shared, without a guest yet")
    let ben = try JoinedNote("Ben", ticket: person.editor.waitForTicket())
    try person.act()
    try person.editor.give(vim: "", emacs: "(delete-other-windows)")
    try person.shows("synced with one")
    try person.forgetTicket()
    try person.editor.share()
    let cleo = try JoinedNote("Cleo", ticket: person.editor.waitForTicket())
    try person.act()
    try person.editor.give(vim: "", emacs: "(delete-other-windows)")
    try person.shows("synced with several")
    // Ben's machine hangs and sends nothing.
    kill(ben.process.child.processId, SIGSTOP)
    try person.type("m")
    try person.shows("behind")
    kill(ben.process.child.processId, SIGCONT)
    try person.shows("synced with several")
    try person.act()
    try cleo.process.request("notes/unshare", ["uri": .string(cleo.client.uri)])
    try person.shows("a guest has left")
    try ben.process.shutdown()
    try person.shows("a peer is unreachable")
    try person.act()
    try person.editor.give(vim: "NotesUnshare", emacs: "(notes-unshare)")
    try person.shows("no longer shared by oneself")
  }

  @Test(arguments: kinds) func aNoteOfAnotherPerson(kind: String) throws {
    let ana = try OpenNote("Ana", text: "bread\n")
    let person = try Person(kind, "Ben")
    let ticket = try ana.process.request("notes/share", ["id": .string(ana.id), "access": "read"])["ticket"]
    try person.editor.join(try #require(ticket?.stringValue))
    try person.shows("read-only on joining")
    try person.act()
    try person.editor.session.terminal.type(kind == VimUnderTest.kind ? "i" : "x")
    try person.shows("typing where one may only read")
    #expect(try person.editor.state()?.text == "bread\n")
    // The host's edits still arrive, and leave the buffer unmodified.
    ana.client.edit(0..<0, with: "rye ")
    ana.client.flush()
    try person.editor.waitForText("rye bread")
    try person.act()
    // The person insists; the service keeps the typed words elsewhere and removes them from the buffer.
    try person.editor.give(vim: "setlocal modifiable", emacs: "(read-only-mode -1)")
    try person.editor.give(
      vim: "call setline(1, 'mine')", emacs: "(progn (insert \"mine\") (notes-lsp--flush notes-lsp--note))")
    try person.shows("words refused")
    try person.editor.waitForText("rye bread")

    let peer = try #require(try ana.process.request("notes/people", ["id": .string(ana.id)])["people"]?[0]?["peer"])
    func setAccess(_ access: String) throws {
      try person.act()
      try ana.process.request("notes/setAccess", ["id": .string(ana.id), "peer": peer, "access": .string(access)])
    }
    try setAccess("write")
    try person.shows("made writable")
    try person.type("milk ")
    try ana.process.waitFor("what Ben typed") { ana.client.text.string.contains("milk ") }
    try setAccess("read")
    try person.shows("made read-only")
    try setAccess("none")
    try person.shows("unshared by the host")
    try person.type("mine ")
    try person.editor.waitForText("mine")
  }

  @Test(arguments: kinds) func aNoteThatWasTypedIntoBeforeTheNewsCame(kind: String) throws {
    let ana = try OpenNote("Ana", text: "bread\n")
    let person = try Person(kind, "Ben")
    try person.editor.join(try ana.ticket())
    try person.editor.waitForText("bread")
    let peer = try #require(try ana.process.request("notes/people", ["id": .string(ana.id)])["people"]?[0]?["peer"])
    try person.editor.setServiceCommand { $0 + ["--no-network"] }
    try person.editor.give(vim: "NotesRestart", emacs: "(notes-restart)")
    try person.sees("Ana unreachable")
    try person.type(" on the train")
    try ana.process.request("notes/setAccess", ["id": .string(ana.id), "peer": peer, "access": "read"])
    ana.client.edit(0..<0, with: "rye ")
    ana.client.flush()
    try person.act()
    try person.editor.setServiceCommand { $0.filter { $0 != "--no-network" } }
    try person.editor.give(vim: "NotesRestart", emacs: "(notes-restart)")
    // The place of the words is shown first; other news waits until the person has read that.
    try person.shows("words typed before the news came")
    try person.act()
    try person.hasShown("made read-only")
    try person.editor.session.wait(for: "the host's text") { try person.editor.state()?.text == "rye bread\n" }
    #expect(ana.client.text.string == "rye bread\n")
    #expect(person.user.recoveredTexts.contains { $0.contains("bread on the train") })
  }

  @Test(arguments: kinds) func aNoteThatIsDeleted(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.type("milk")
    try person.editor.deleteNote()
    try person.hasShown("deleted here")
    // The person now types into a plain file, and undo is the editor's own.
    try person.type(" kept")
    #expect(try person.editor.state()?.text.contains("kept") == true)
    try person.editor.undo()
    try person.editor.session.wait(for: "the editor's own undo") {
      try person.editor.state()?.text.contains("kept") == false
    }
    try person.editor.undeleteNote("Shopping")
    try person.shows("undeleted")
  }

  @Test(arguments: kinds) func aNoteThatIsRemovedForGood(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.type("milk")
    try person.editor.deleteNote()
    try person.hasShown("deleted here")
    try person.act()
    let result = try person.user.run(["purge", "Shopping", "--yes"])
    #expect(result.exit == .code(0), "\(result.output)")
    try person.shows("removed for good")
    #expect(try person.editor.state()?.text.contains("milk") == true)
  }

  @Test(arguments: kinds) func aNoteThatIsDeletedForEveryone(kind: String) throws {
    let ana = try OpenNote("Ana", text: "bread\n")
    let person = try Person(kind, "Ben")
    try person.editor.join(try ana.ticket())
    try person.editor.waitForText("bread")
    _ = try person.editor.waitUntilAttached()
    try ana.process.request("notes/delete", ["id": .string(ana.id), "forEveryone": true])
    try person.shows("deleted for everyone")
    #expect(try person.editor.state()?.text == "bread\n")
  }

  @Test(arguments: kinds) func anItemThatIsDeleted(kind: String) throws {
    let user = try NotesUser("Ana")
    let ana = try user.startInitialized()
    let id = try ana.request("notes/create", ["title": "Weekly", "kind": "meeting"])["id"] ?? .null
    let item = try ana.request("notes/addItem", ["id": id, "title": "Drinks", "text": "tea\n"])
    let ticket = try ana.request("notes/share", ["id": id])["ticket"]?.stringValue
    let person = try Person(kind, "Ben")
    let path = person.user.notes + "/Weekly/Drinks.md"
    try person.editor.give(
      vim: "NotesJoin \(try #require(ticket))", emacs: "(notes-join \"\(try #require(ticket))\")")
    // The first item opens by itself. The test waits for it, or the message at the end of the join would cover the
    // deletion's.
    try person.editor.session.wait(for: "the item") { try person.editor.filePath() == path }
    _ = try person.editor.waitUntilAttached()
    try person.act()
    try ana.request("notes/delete", ["uri": item["uri"] ?? .null])
    try person.shows("item deleted")
    #expect(try person.editor.state()?.text == "tea\n")
  }

  @Test(arguments: kinds) func anItemThatIsDeletedWhileItIsClosed(kind: String) throws {
    let ana = try NotesUser("Ana").startInitialized()
    let id = try ana.request("notes/create", ["title": "Weekly", "kind": "meeting"])["id"] ?? .null
    let item = try ana.request("notes/addItem", ["id": id, "title": "Drinks", "text": "tea\n"])
    let ticket = try #require(ana.request("notes/share", ["id": id])["ticket"]?.stringValue)
    // A client that has an item open receives news when other people close it.
    let client = try ModelClient(ana, note: item)
    defer { withExtendedLifetime(client) {} }
    let person = try Person(kind, "Ben")
    let path = person.user.notes + "/Weekly/Drinks.md"
    try person.editor.give(vim: "NotesJoin \(ticket)", emacs: "(notes-join \"\(ticket)\")")
    try person.editor.session.wait(for: "the item's file") { FileManager.default.fileExists(atPath: path) }
    // Joining shows the first item.
    try person.waitForFile("Drinks.md")
    _ = try person.editor.waitUntilAttached()
    try person.editor.give(vim: "bwipeout!", emacs: "(kill-buffer)")
    _ = try ana.waitForNotification("notes/event") { $0["kind"] == "left" }
    try person.act()
    try ana.request("notes/delete", ["uri": item["uri"] ?? .null])
    try person.shows("words kept")
  }

  @Test(arguments: kinds) func aNoteThatAnotherProcessRemovedMeanwhile(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.type("milk")
    try person.editor.give(vim: "NotesStop", emacs: "(notes-stop)")
    try person.shows("the service is stopped")
    for command in [["rm", "Shopping"], ["purge", "Shopping", "--yes"]] {
      let result = try person.user.run(command)
      #expect(result.exit == .code(0), "\(result.output)")
    }
    try person.editor.give(vim: "NotesRestart", emacs: "(notes-restart)")
    try person.shows("not found by a new service")
    #expect(try person.editor.state()?.text.contains("milk") == true)
  }

  @Test(arguments: kinds) func aNoteThatIsNotHereYet(kind: String) throws {
    let ana = try OpenNote("Ana", text: "bread\n")
    let person = try Person(kind, "Ben")
    try person.editor.join(try ana.ticket())
    try person.editor.waitForText("bread")
    try person.sees("synced with Ana")
    kill(ana.process.child.processId, SIGSTOP)
    try person.editor.give(vim: "NotesStop", emacs: "(notes-stop)")
    try person.shows("the service is stopped")
    // The store is restored from a backup that is older than the note.
    try person.user.forgetDocument(ana.id)
    try person.type(" rye")
    try person.editor.give(vim: "NotesRestart", emacs: "(notes-restart)")
    try person.shows("waiting for a note that is not here")
    try person.type(" milk")
    kill(ana.process.child.processId, SIGCONT)
    try ana.process.waitFor("what Ben typed") { ana.client.text.string.contains("rye milk") }
    try person.sees("synced with Ana")
    #expect(ana.client.text.string.components(separatedBy: "bread").count == 2)
  }

  @Test(arguments: kinds) func aPlainFileThatBecomesANote(kind: String) throws {
    let person = try Person(kind)
    let path = person.user.notes + "/List.md"
    try FileManager.default.createDirectory(atPath: person.user.notes, withIntermediateDirectories: true)
    try "bread\n".write(toFile: path, atomically: true, encoding: .utf8)
    try person.editor.give(vim: "edit \(path)", emacs: "(find-file \"\(path)\")")
    try person.waitForFile("List.md")
    try person.type("milk")
    let other = try person.user.startInitialized()
    let id = try #require(try other.request("notes/adopt", ["uri": .string("file://" + path)])["id"]?.stringValue)
    #expect(try person.editor.waitUntilAttached() == id)
    try person.shows("a plain file that has become a note")
    try person.type(" rye")
    try person.editor.session.wait(for: "what was typed") { try person.user.storedText(of: id).contains("milk rye") }
  }

  @Test(arguments: kinds) func aNoteThatCannotBeStored(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    let service = try #require(person.editor.session.records.last?.processId)
    try limitFiles(of: service, to: 0)
    try person.type("milk")
    try person.shows("not stored")
    try limitFiles(of: service, to: nil)
    try person.shows("new")
  }

  /// The words are nowhere else: neither in the note, which refused them, nor on the disk.
  @Test(arguments: kinds) func wordsThatCannotBeStored(kind: String) throws {
    let ana = try OpenNote("Ana", text: "bread\n")
    let person = try Person(kind, "Ben")
    let ticket = try ana.process.request("notes/share", ["id": .string(ana.id), "access": "read"])["ticket"]
    try person.editor.join(try #require(ticket?.stringValue))
    try person.shows("read-only on joining")
    try person.act()
    let service = try #require(person.editor.session.records.last?.processId)
    try limitFiles(of: service, to: 0)
    try person.editor.give(vim: "setlocal modifiable", emacs: "(read-only-mode -1)")
    try person.editor.give(
      vim: "call setline(1, 'mine')", emacs: "(progn (insert \"mine\") (notes-lsp--flush notes-lsp--note))")
    try person.shows("words that cannot be stored")
    try limitFiles(of: service, to: nil)
  }

  @Test(arguments: kinds) func aBufferThatIsNoNote(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    let path = person.user.directory.file("other.md")
    try person.editor.give(vim: "saveas \(path)", emacs: "(write-file \"\(path)\")")
    try person.shows("saved under another name")
    let plain = person.user.directory.file("plain.txt")
    try person.act()
    try person.editor.give(vim: "edit \(plain)", emacs: "(find-file \"\(plain)\")")
    try person.editor.give(vim: "NotesStatus", emacs: "(notes-status)")
    try person.shows("a plain file")
  }

  // MARK: The table

  @Test func theTableNamesOnlyTestsThatExistAndLookAtIt() throws {
    let table = try ConditionTable()
    #expect(table.rows.count >= 20)
    let own = try String(contentsOfFile: #filePath, encoding: .utf8)
    let folder = NotesBinary.packageRoot + "/editor-plugins"
    let plugins = try ["/vim/test/condition_test.vim", "/emacs/test/notes-lsp-condition-test.el"].map {
      try String(contentsOfFile: folder + $0, encoding: .utf8)
    }
    for row in table.rows {
      #expect(!row.vim.isEmpty && !row.emacs.isEmpty, "\(row.condition)")
      if let start = own.range(of: "func \(row.test)(") {
        let body = own[start.upperBound...].prefix { $0 != "\u{0}" }
        let end = body.range(of: "\n  @Test")?.lowerBound ?? body.endIndex
        let looks = ["shows", "hasShown"].contains { body[..<end].contains("\($0)(\"\(row.condition)\")") }
        #expect(looks, "\(row.test) does not look at: \(row.condition)")
      } else {
        #expect(plugins[0].contains("def \(row.test)()"), "no test is called \(row.test)")
        // The plugin's test has the words of both Vim and Emacs.
        let words = row.vim.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "[]")) }
        for word in words.compactMap({ $0.components(separatedBy: ": ").last }) {
          #expect(plugins.allSatisfy { $0.contains(word) }, "\(word)")
        }
      }
    }
  }

  @Test func everyMessageOfTheTableFitsOnALineOf80Columns() throws {
    for row in try ConditionTable().rows {
      for text in row.vim + row.emacs { #expect(text.count < 80, "\(text)") }
    }
  }
}

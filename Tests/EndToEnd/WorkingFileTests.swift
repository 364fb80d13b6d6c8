import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A note, its working file and its buffer, and the writes of service, editor and other programs.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct WorkingFileTests {}

extension WorkingFileTests {
  private struct Open {
    let note: OpenNote
    let path: String
    var process: NotesProcess { note.process }
    var client: ModelClient { note.client }

    init(_ text: String) throws {
      note = try OpenNote(text: text)
      path = note.user.notes + "/Shopping.md"
    }

    func write(_ text: String, atomically: Bool = true) throws {
      try text.write(toFile: path, atomically: atomically, encoding: .utf8)
    }

    var file: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    func say(saved client: ModelClient) {
      process.notify("textDocument/didSave", ["textDocument": ["uri": .string(client.uri)]])
    }

    /// Saves as editors do.
    func save(_ client: ModelClient) throws {
      client.flush()
      try write(client.text.string)
      say(saved: client)
    }

    /// Opens the file once more, like an editor that was closed, or that reloads it.
    func openAgain() throws -> ModelClient {
      try ModelClient(
        process, note: ["id": .string(note.id), "uri": .string(client.uri), "path": .string(path)], version: 100)
    }
  }

  @Test(arguments: [true, false]) func anotherProgramsWordsComeIntoTheOpenBuffer(atomically: Bool) throws {
    let open = try Open("one\ntwo\n")
    open.client.edit(0..<0, with: "mine ")
    open.client.flush()
    try open.write("one\ntwo\nthree\n", atomically: atomically)
    try open.process.waitFor("the line") { open.client.text.string == "mine one\ntwo\nthree\n" }
    try ModelClient.waitForConvergence([open.client])
    // Later typing, and later writes from outside, are merged, too.
    open.client.edit(0..<0, with: "more ")
    open.client.flush()
    try open.write("one\n2\nthree\n", atomically: atomically)
    try open.process.waitFor("the change") { open.client.text.string == "more mine one\n2\nthree\n" }
    try open.save(open.client)
    open.client.close()
    try open.process.waitFor("both in the file") { open.file == "more mine one\n2\nthree\n" }
    try open.process.shutdown()
    #expect(try open.note.user.storedText(of: open.note.id) == "more mine one\n2\nthree\n")
    expectNoComplaints(open.client)
  }

  /// On a busy machine, the service may write the file after an editor has read it and before the editor reports that.
  @Test(arguments: [false, true])
  func aBufferThatWasReadBeforeTheFileWasWrittenDeletesNoWords(isTypedInto: Bool) throws {
    let ana = try OpenNote("Ana", text: "milk\n")
    let ben = try NotesUser("Ben")
    let service = try ben.startInitialized()
    let joined = try service.request("notes/join", ["ticket": .string(try ana.ticket())])
    let path = try #require(joined["path"]?.stringValue)
    let old = try String(contentsOfFile: path, encoding: .utf8)
    for word in ["tea\n", "cake\n"] {
      ana.client.edit(0..<0, with: word)
      ana.client.flush()
      try service.waitFor("\(word) in Ben's file") {
        try String(contentsOfFile: path, encoding: .utf8) == ana.client.text.string
      }
    }
    let client = try ModelClient(service, note: joined, text: old + (isTypedInto ? "eggs\n" : ""))
    try ModelClient.waitForConvergence([ana.client, client])
    #expect(client.text.string == "cake\ntea\nmilk\n" + (isTypedInto ? "eggs\n" : ""))
    expectNoComplaints(ana.client, client)
  }

  @Test(arguments: ["", "\n"], [false, true])
  func whatWasSavedBetweenTwoChangesFromOutsideStandsOnce(end: String, isSeen: Bool) throws {
    let open = try Open("one\ntwo\nthree" + end)
    var known: [String] = []
    let before = open.process.onNotification
    open.process.onNotification = { method, params in
      if method == "notes/file" { known.append(params["sha256"]?.stringValue ?? "") }
      before(method, params)
    }
    func lines(_ text: String) -> String { text + end }
    try open.write(lines("one\nTWO\nthree"))
    try open.process.waitFor("the first change") { open.client.text.string == lines("one\nTWO\nthree") }
    let last = open.client.text.bytes.count - end.utf8.count
    open.client.edit(last..<last, with: "\nunsaved")
    open.client.flush()
    try ModelClient.waitForConvergence([open.client])
    try open.write(lines("ONE\nTWO\nthree"))
    try open.process.waitFor("the second change") { open.client.text.string == lines("ONE\nTWO\nthree\nunsaved") }
    open.client.flush()
    try open.save(open.client)
    try ModelClient.waitForConvergence([open.client])
    if isSeen {
      // A second write is news once the service has seen the save.
      try open.write(try #require(open.file), atomically: false)
      let hash = ModelText(try #require(open.file), encoding: .utf8).sha256
      try open.process.waitFor("the service to know the save") { known.contains(hash) }
    }
    let more = open.client.text.bytes.count - end.utf8.count
    open.client.edit(more..<more, with: "\nmore")
    open.client.flush()
    try open.write(lines("ONE\nTWO\nTHREE\nunsaved"))
    try open.process.waitFor("the third change") { open.client.text.string.contains("THREE") }
    try ModelClient.waitForConvergence([open.client])
    #expect(open.client.text.string == lines("ONE\nTWO\nTHREE\nunsaved\nmore"))
    expectNoComplaints(open.client)
  }

  /// A shell's `>` empties a file before it is written.
  @Test func aFileThatIsEmptiedBeforeItIsWrittenIsNotTakenForEmpty() throws {
    let open = try Open("one\ntwo\n")
    let other = try open.process.request("notes/create", ["title": "Other", "text": "other\n"])
    let second = try ModelClient(open.process, note: other)
    open.client.edit(0..<0, with: "mine ")
    open.client.flush()
    try ModelClient.waitForConvergence([open.client])
    var deletions: [String] = []
    var recovered: [String] = []
    let before = open.process.onNotification
    open.process.onNotification = { method, params in
      if params["kind"] == "recovered" { recovered.append(params["copy"]?.stringValue ?? "") }
      let isOurs = params["uri"]?.stringValue == open.client.uri
      if isOurs, method == "notes/edit", params["bytes"]?.intValue ?? 0 < 10 { deletions.append("\(params)") }
      before(method, params)
    }
    let file = try #require(FileHandle(forWritingAtPath: open.path))
    try file.truncate(atOffset: 0)
    // The service has read the other file's later change, so it has read this one, too.
    let otherPath = try #require(other["path"]?.stringValue)
    try "other\nline\n".write(toFile: otherPath, atomically: true, encoding: .utf8)
    try open.process.waitFor("the other line") { second.text.string == "other\nline\n" }
    try file.write(contentsOf: Data("one\ntwo\nthree\n".utf8))
    try file.close()
    try open.process.waitFor("the line") { open.client.text.string == "mine one\ntwo\nthree\n" }
    #expect(deletions == [])
    // An empty file that stays empty is intended.
    open.client.close()
    try open.process.waitFor("the file") { open.file == "mine one\ntwo\nthree\n" }
    try open.write("", atomically: false)
    try open.process.waitFor("the empty note") {
      let notes = try open.process.request("notes/list")["notes"]?.arrayValue ?? []
      return notes.first { $0["id"]?.stringValue == open.note.id }?["words"] == 0
    }
    // The old text is kept as recovered, and the person gets the news.
    try open.process.waitFor("news of a copy") { recovered == ["a copy of \"Shopping\""] }
    let kept = try #require(try open.process.request("notes/recovered")["texts"]?.arrayValue)
    #expect(kept.map { $0["reason"]?.stringValue } == ["another program emptied its file"])
    expectNoComplaints(open.client)
  }

  /// A full disk causes this, or an editor that overwrites the file with a part of its buffer.
  @Test(arguments: [true, false]) func aFileThatIsCutShortLeavesACopyOfTheNote(isOpen: Bool) throws {
    let text = (1...9).map { "This is line number \($0)\n" }.joined()
    let open = try Open(text)
    var recovered: [String] = []
    let before = open.process.onNotification
    open.process.onNotification = { method, params in
      if params["kind"] == "recovered" { recovered.append(params["copy"]?.stringValue ?? "") }
      before(method, params)
    }
    if !isOpen {
      open.client.close()
      try open.process.waitFor("the file") { open.file == text }
    }
    // An ordinary edit leaves no copy.
    let edited = text.replacingOccurrences(of: "This is line number 5\n", with: "")
    try open.write(edited)
    // Eight lines of five words.
    try open.process.waitFor("the edited note") {
      guard !isOpen else { return open.client.text.string == edited }
      let notes = try open.process.request("notes/list")["notes"]?.arrayValue ?? []
      return notes.first { $0["id"]?.stringValue == open.note.id }?["words"] == 40
    }
    let rest = "This is line number 1\n"
    try open.write(rest)
    try open.process.waitFor("news of a copy") { recovered == ["a copy of \"Shopping\""] }
    let kept = try #require(try open.process.request("notes/recovered")["texts"]?.arrayValue)
    #expect(kept.map { $0["reason"]?.stringValue } == ["another program removed most of its file"])
    #expect(open.note.user.recoveredTexts == [edited])
    try open.process.shutdown()
    #expect(try open.note.user.storedText(of: open.note.id) == rest)
  }

  @Test func theEditorIsToldWhichFileItMayWriteOver() throws {
    let open = try Open("one\n")
    var known: [String] = []
    let before = open.process.onNotification
    open.process.onNotification = { method, params in
      if method == "notes/file" { known.append(params["sha256"]?.stringValue ?? "") }
      before(method, params)
    }
    try open.write("one\ntwo\n")
    let wanted = ModelText("one\ntwo\n", encoding: .utf8).sha256
    try open.process.waitFor("the file's hash") { known.contains(wanted) }
    // An editor finds text in the file that must not be lost, and is about to overwrite it.
    open.process.notify("notes/file", ["uri": .string(open.client.uri), "text": "one\ntwo\nfound\n"])
    try open.process.waitFor("the found line") { open.client.text.string == "one\ntwo\nfound\n" }
    let found = ModelText("one\ntwo\nfound\n", encoding: .utf8).sha256
    try open.process.waitFor("the found file's hash") { known.contains(found) }
    expectNoComplaints(open.client)
  }

  @Test func aSaveThatFailedIsNotBelieved() throws {
    let open = try Open("one\n")
    open.client.edit(0..<0, with: "typed ")
    open.client.flush()
    open.say(saved: open.client)
    // The editor reads the file with its old content again: that does not delete typed words.
    let again = try open.openAgain()
    try open.process.waitFor("the typed words") { again.text.string == "typed one\n" }
    try ModelClient.waitForConvergence([again])
  }

  @Test func aSaveThatFailedBesideAnotherProgramsChangeLosesNeither() throws {
    let open = try Open("one\n")
    open.client.edit(0..<0, with: "typed ")
    open.client.flush()
    try open.write("one\noutside\n")
    open.say(saved: open.client)
    let again = try open.openAgain()
    try open.process.waitFor("both") { again.text.string == "typed one\noutside\n" }
    try ModelClient.waitForConvergence([again])
  }

  @Test func whatAnEditorWroteAndDidNotReportIsNotTakenInTwice() throws {
    let open = try Open("one\n")
    open.client.edit(4..<4, with: "typed\n")
    open.client.flush()
    try open.write("one\ntyped\n")
    open.client.edit(10..<10, with: "later\n")
    open.client.flush()
    try open.write("one\ntyped\noutside\n")
    try open.process.waitFor("the line from outside") { open.client.text.string.contains("outside") }
    try ModelClient.waitForConvergence([open.client])
    #expect(open.client.text.string.components(separatedBy: "typed").count == 2, "\(open.client.text.string)")
    #expect(open.client.text.string.contains("later"))
  }

  @Test func aFileThatIsReadAgainWithUnsavedWordsBesideNewsFromOutsideDoublesNothing() throws {
    let open = try Open("one\n")
    open.client.edit(0..<0, with: "unsaved ")
    open.client.flush()
    try open.write("one\noutside\n")
    var client = try open.openAgain()
    try open.process.waitFor("both") { client.text.string == "unsaved one\noutside\n" }
    client = try ModelClient(
      open.process, note: ["id": .string(open.note.id), "uri": .string(client.uri), "path": .string(open.path)],
      version: 200)
    try open.process.waitFor("both again") { client.text.string == "unsaved one\noutside\n" }
    try ModelClient.waitForConvergence([client])
    #expect(client.text.string == "unsaved one\noutside\n")
  }

  @Test func aBufferThatStayedWhileItsNoteWasDeletedDeletesNoWords() throws {
    let open = try Open("one\n")
    let ben = try JoinedNote("Ben", ticket: open.note.ticket())
    try ModelClient.waitForConvergence([open.client, ben.client])
    try ben.process.request("notes/delete", ["uri": .string(ben.client.uri)])
    let stale = ben.client.text.string
    // Otherwise the buffer would be attached as soon as the note is back, and only the editor would write the file.
    ben.client.close()
    open.client.edit(4..<4, with: "Ana's words\n")
    open.client.flush()
    let back = try ben.process.request("notes/undelete", ["id": .string(open.note.id)])
    let path = try #require(back["path"]?.stringValue)
    try ben.process.waitFor("Ana's words in Ben's file") {
      (try? String(contentsOfFile: path, encoding: .utf8)) == "one\nAna's words\n"
    }
    // The editor still has the buffer, with a word typed meanwhile, and opens it again.
    let typed = ben.user.directory.file("buffer")
    try ("typed " + stale).write(toFile: typed, atomically: true, encoding: .utf8)
    let again = try ModelClient(
      ben.process, note: ["id": .string(open.note.id), "uri": back["uri"] ?? .null, "path": .string(typed)],
      version: 100)
    try ben.process.waitFor("all words here") { again.text.string == "typed one\nAna's words\n" }
    try open.process.waitFor("all words there") { open.client.text.string == "typed one\nAna's words\n" }
  }

  @Test(arguments: [false, true])
  func whatAnotherProgramWroteJustBeforeAnOpenNoteIsDeletedIsKept(forEveryone: Bool) throws {
    let open = try Open("one\n")
    try open.save(open.client)
    open.client.edit(0..<0, with: "unsaved ")
    open.client.flush()
    try open.write("one\ntwo\n")
    try open.process.request("notes/delete", ["uri": .string(open.client.uri), "forEveryone": .bool(forEveryone)])
    #expect(open.file == nil)
    let back = try open.process.request("notes/undelete", ["id": .string(open.note.id)])
    #expect(try String(contentsOfFile: back["path"]?.stringValue ?? "", encoding: .utf8) == "unsaved one\ntwo\n")
    try open.process.shutdown()
  }

  @Test func aFileThatIsRemovedRightAfterItWasClosedStaysRemoved() throws {
    let open = try Open("one\n")
    let other = try open.process.request("notes/create", ["title": "Other", "text": "one\n"])
    let otherPath = try #require(other["path"]?.stringValue)
    open.client.edit(0..<0, with: "saved ")
    try open.save(open.client)
    open.client.close()
    try FileManager.default.removeItem(atPath: open.path)
    // The service reads the files in the order in which they changed: once it has read this one, it knows that the
    // first is gone.
    try "one two three\n".write(toFile: otherPath, atomically: true, encoding: .utf8)
    try open.process.waitFor("the words of the other file") {
      let notes = try open.process.request("notes/list")["notes"]?.arrayValue ?? []
      return notes.first { $0["id"] == other["id"] }?["words"] == 3
    }
    #expect(open.file == nil)
    // The service makes it again when the note is opened.
    try open.process.request("notes/open", ["id": .string(open.note.id)])
    #expect(open.file == "saved one\n")
  }

  @Test func anEditorThatShowsNothingOfAMissingFileDeletesNothing() throws {
    let open = try Open("one\n")
    open.client.close()
    try FileManager.default.removeItem(atPath: open.path)
    let empty = open.note.user.directory.file("empty")
    try "".write(toFile: empty, atomically: true, encoding: .utf8)
    let client = try ModelClient(
      open.process, note: ["id": .string(open.note.id), "uri": .string(open.client.uri), "path": .string(empty)],
      version: 100)
    try open.process.waitFor("the text") { client.text.string == "one\n" }
  }

  @Test func anAdoptedFileIsFollowedAlthoughNoEditorOpensIt() throws {
    let user = try NotesUser("Ana")
    let process = try user.startInitialized()
    let path = user.directory.file("plan.txt")
    try "one\n".write(toFile: path, atomically: true, encoding: .utf8)
    let id = try #require(
      process.request("notes/adopt", ["uri": .string("file://" + path)])["id"]?.stringValue)
    let ticket = try #require(process.request("notes/share", ["id": .string(id)])["ticket"]?.stringValue)
    let ben = try JoinedNote("Ben", ticket: ticket)
    try "one\nfrom outside\n".write(toFile: path, atomically: true, encoding: .utf8)
    try ben.process.waitFor("the words from outside") { ben.client.text.string == "one\nfrom outside\n" }
    ben.client.edit(0..<0, with: "from Ben, ")
    ben.client.flush()
    try process.waitFor("Ben's words in the file") {
      (try? String(contentsOfFile: path, encoding: .utf8)) == "from Ben, one\nfrom outside\n"
    }
    // Editors find it without a request.
    let list = try String(contentsOfFile: user.notes + "/.elsewhere", encoding: .utf8)
    #expect(list == "\(id) \(path)\n")
    try process.request("notes/delete", ["id": .string(id)])
    try process.waitFor("an empty list") {
      (try? String(contentsOfFile: user.notes + "/.elsewhere", encoding: .utf8)) == ""
    }
  }

  @Test func anEditorWithoutAPluginThatReadsItsFileAgainDoublesNothing() throws {
    let user = try NotesUser("Ana")
    let process = try user.start()
    try process.request("initialize", ["capabilities": [:]])
    let note = try process.request("notes/create", ["title": "Plain", "text": "one\n"])
    let (uri, path) = (note["uri"] ?? .null, note["path"]?.stringValue ?? "")
    func change(_ text: String, version: Int) {
      process.notify(
        "textDocument/didChange",
        ["textDocument": ["uri": uri, "version": JSONValue(version)], "contentChanges": [["text": .string(text)]]])
    }
    process.notify(
      "textDocument/didOpen",
      ["textDocument": ["uri": uri, "languageId": "markdown", "version": 1, "text": "one\n"]])
    try "one\ntwo\n".write(toFile: path, atomically: true, encoding: .utf8)
    process.notify("workspace/didChangeWatchedFiles", ["changes": [["uri": uri, "type": 2]]])
    // Nil until the note is in the store.
    func stored() -> String? { try? user.storedText(of: note["id"]?.stringValue ?? "") }
    try process.waitFor("the line in the note") { stored() == "one\ntwo\n" }
    change("one\ntwo\n", version: 2)
    change("one\ntwo\nthree\n", version: 3)
    try process.waitFor("each line once") { stored() == "one\ntwo\nthree\n" }
  }

  /// The service was killed before it had stored what it knew of the editor's last save; another process maintains the
  /// file.
  @Test(arguments: [true, false]) func aFileThatWasSavedBeforeAKillBringsNoWordTwice(isTypedOn: Bool) throws {
    let open = try Open("one\n")
    let other = try open.note.user.startInitialized()
    _ = try other.request("notes/share", ["id": .string(open.note.id)])
    open.client.edit(0..<0, with: "two\n")
    open.client.flush()
    let saved = open.client.text.string
    if isTypedOn {
      open.client.edit(0..<0, with: "three\n")
      open.client.flush()
    }
    _ = try open.process.request("notes/status", ["uri": .string(open.client.uri)])
    try open.write(saved)
    try open.process.kill()
    try other.waitFor("the words in the other process") {
      try other.request("notes/list", ["query": "two"])["notes"]?.arrayValue?.isEmpty == false
    }
    try other.waitFor("the file to be looked after") { open.file == open.client.text.string }
    let process = try open.note.user.startInitialized()
    open.client.reattach(to: process)
    try ModelClient.waitForConvergence([open.client])
    #expect(open.client.text.string == (isTypedOn ? "three\n" : "") + "two\none\n")
    expectNoComplaints(open.client)
    try other.shutdown()
    try process.shutdown()
  }
}

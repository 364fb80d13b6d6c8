import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The subcommands for notes, alone on a store and beside running services.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct CommandTests {}

extension CommandTests {
  private struct Result {
    var exit: ChildProcess.Exit
    var output: String
    var errors: String
    /// The JSON objects, one a line.
    var objects: [JSONValue] {
      get throws { try output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) } }
    }
  }

  private func run(_ user: NotesUser, _ arguments: String..., before: [String] = []) throws -> Result {
    let binary = try #require(NotesBinary.path)
    let result = try ChildProcess.run(
      [binary] + before + arguments + ["--home", user.home, "--notes", user.notes])
    return Result(
      exit: result.exit, output: String(decoding: result.output, as: UTF8.self),
      errors: String(decoding: result.errorOutput, as: UTF8.self))
  }

  private func id(_ result: Result) throws -> String { try #require(result.objects.first?["id"]?.stringValue) }

  @Test func aTitleThatTwoNotesHaveIsRefusedWithBothIds() throws {
    let ana = try NotesUser("Ana")
    let first = try id(run(ana, "new", "Shopping", "--json"))
    let second = try id(run(ana, "new", "shopping", "--json"))
    #expect(try run(ana, "show", "Shopping").exit == .code(0), "the exact title is one note's")
    let verbs = [
      ["show", "SHOPPING"], ["rm", "SHOPPING"], ["rename", "SHOPPING", "Food"], ["history", "SHOPPING"],
      ["diff", "SHOPPING"], ["export", "SHOPPING", ana.directory.file("x.md")], ["share", "SHOPPING"],
      ["merge", "SHOPPING", "/none"], ["unshare", "SHOPPING"], ["status", "SHOPPING"], ["invite", "SHOPPING", "Ben"],
    ]
    for verb in verbs {
      let result = try ana.run(verb)
      #expect(result.exit == .code(1), "\(verb): \(result)")
    }
    let refusal = try run(ana, "rm", "SHOPPING")
    #expect(refusal.errors.contains(first) && refusal.errors.contains(second), "\(refusal)")
    #expect(try run(ana, "list", "--json").objects.count == 2, "both are there still")
    #expect(try run(ana, "rm", second).exit == .code(0))
    #expect(try run(ana, "list", "--json").objects.compactMap { $0["id"]?.stringValue } == [first])
    // The service refuses an editor's request, too.
    let third = try id(run(ana, "new", "SHOPPING", "--json"))
    let process = try ana.startInitialized()
    let error = try #require(try process.refusal("notes/open", ["title": "sHOPPING"]))
    #expect("\(error)".contains(first) && "\(error)".contains(third))
  }

  @Test func aFileThatIsNotThereIsSaidInOneSentence() throws {
    let binary = try #require(NotesBinary.path)
    for verb in [["dump"], ["validate"], ["join-files", "/none/b", "-o", "/none/c"]] {
      let result = try ChildProcess.run([binary, verb[0], "/none/a"] + verb.dropFirst())
      let said = String(decoding: result.output + result.errorOutput, as: UTF8.self)
      #expect(said.contains("/none/a cannot be read: No such file or directory"), "\(verb[0]): \(said)")
    }
  }

  /// All rows of the store, in whichever of its files they are at the moment.
  private func storedRows(_ user: NotesUser) throws -> String {
    let script = "import sqlite3, sys; print('\\n'.join(sqlite3.connect(sys.argv[1]).iterdump()))"
    let result = try ChildProcess.run(["python3", "-c", script, user.home + "/notes.db"])
    #expect(result.exit == .code(0) && result.output.count > 100, "\(result)")
    return String(decoding: result.output, as: UTF8.self)
  }

  @Test func whatAShellWritesToTheFileIsShown() throws {
    let ana = try NotesUser("Ana")
    let path = try #require(try run(ana, "new", "Shopping", "--json").objects.first?["path"]?.stringValue)
    try "milk\noat milk\n".write(toFile: path, atomically: false, encoding: .utf8)
    let before = try storedRows(ana)
    #expect(try run(ana, "show", "Shopping").output == "milk\noat milk\n")
    #expect(try storedRows(ana) == before, "looking changes nothing")
    #expect(try run(ana, "export", "Shopping", ana.directory.file("x.md")).exit == .code(0))
    #expect(try String(contentsOfFile: ana.directory.file("x.md"), encoding: .utf8) == "milk\noat milk\n")
  }

  @Test func aFileOfANoteThatIsHereIsMergedWithIt() throws {
    let ana = try NotesUser("Ana")
    let note = try id(run(ana, "new", "Shopping", "--json"))
    for ending in ["automerge", "meetingnotes"] {
      let file = ana.directory.file("copy.\(ending)")
      #expect(try run(ana, "export", "Shopping", file).exit == .code(0))
      let again = try run(ana, "import", file)
      #expect(again.exit == .code(0) && again.errors.contains("is here already; 0 changes merged"), "\(again)")
      let listed = try run(ana, "list", "--json").objects
      #expect(listed.compactMap { $0["id"]?.stringValue } == [note])
    }
    // Ben's copy, with words of his own.
    let ben = try NotesUser("Ben")
    let copy = ana.directory.file("copy.automerge")
    let bens = try #require(try run(ben, "import", copy, "--json").objects.first?["path"]?.stringValue)
    try "eggs, said Ben\n".write(toFile: bens, atomically: false, encoding: .utf8)
    #expect(try run(ben, "export", "Shopping", copy, "--force").exit == .code(0))
    let merged = try run(ana, "import", copy, "--json").objects
    #expect(merged.first?["known"] == true && merged.first?["id"]?.stringValue == note)
    #expect(try run(ana, "show", note).output == "eggs, said Ben\n")
    // A note that was deleted here returns; a file that is not a copy becomes a new note.
    #expect(try run(ana, "rm", note).exit == .code(0))
    #expect(try run(ana, "import", copy, "--json").objects.first?["id"]?.stringValue == note)
    let other = try NotesUser("Cleo")
    _ = try run(other, "new", "Shopping")
    #expect(try run(other, "export", "Shopping", copy, "--force").exit == .code(0))
    #expect(try run(ana, "import", copy, "--json").objects.first?["id"]?.stringValue != note)
  }

  @Test func aDeletedNoteIsRestoredOrRemovedForGood() throws {
    let ana = try NotesUser("Ana")
    let path = try #require(try run(ana, "new", "Shopping", "--json").objects.first?["path"]?.stringValue)
    let early = try run(ana, "undelete", "Shopping")
    #expect(early.exit == .code(1) && early.errors.contains("not deleted"), "\(early)")
    #expect(try run(ana, "purge", "Shopping", "--yes").exit == .code(1))
    #expect(try run(ana, "rm", "Shopping").exit == .code(0))
    #expect(try run(ana, "list", "--deleted", "--json").objects.first?["title"] == "Shopping")
    #expect(try run(ana, "undelete", "shopping").output == path + "\n")
    #expect(try run(ana, "list", "--deleted").output.isEmpty)
    #expect(try run(ana, "rm", "Shopping").exit == .code(0))
    #expect(try run(ana, "purge", "Shopping").exit == .code(2), "there is no terminal to ask on")
    let purged = try run(ana, "purge", "Shopping", "--yes")
    #expect(purged.exit == .code(0) && purged.errors == "", "\(purged)")
    #expect(try run(ana, "list", "--deleted").output.isEmpty)
    #expect(try run(ana, "undelete", "Shopping").exit == .code(1))
  }

  @Test func wordsAreFoundAndTheirPlacesPrinted() throws {
    let ana = try NotesUser("Ana")
    let path = try #require(try run(ana, "new", "Drinks", "--json").objects.first?["path"]?.stringValue)
    try "Green tea\nand oat milk\n".write(toFile: path, atomically: false, encoding: .utf8)
    _ = try run(ana, "new", "Other")
    let found = try run(ana, "find", "OAT")
    #expect(found.exit == .code(0) && found.output == "Drinks  \(path):2  and oat milk\n", "\(found)")
    #expect(try run(ana, "find", "drinks").output == "Drinks  \(path)\n")
    #expect(try run(ana, "find", "oat", "--json").objects.count == 1)
    let nothing = try run(ana, "find", "nowhere")
    #expect(nothing.exit == .code(1) && nothing.output.isEmpty && nothing.errors.contains("No note contains nowhere"))
    #expect(try run(ana, "find", " ").exit == .code(2))
  }

  @Test func optionsMayStandBeforeTheCommand() throws {
    let ana = try NotesUser("Ana")
    let made = try run(ana, "new", "Shopping", before: ["--name", "Ana", "--home=" + ana.home])
    #expect(made.exit == .code(0), "\(made)")
    let binary = try #require(NotesBinary.path)
    let list = try ChildProcess.run([binary, "--home", ana.home, "--name", "Ana", "list"])
    #expect(String(decoding: list.output, as: UTF8.self).contains("Shopping"))
    let json = try ChildProcess.run([binary, "--json", "--home", ana.home, "list"])
    #expect(String(decoding: json.output, as: UTF8.self).hasPrefix("{"), "\(json)")
    let validated = try ChildProcess.run([binary, "--name", "Ana", "validate", "/none"])
    #expect(validated.exit == .code(1))
    let doctor = try ChildProcess.run([binary, "--name", "Ana", "doctor", "--json", "--home", ana.home])
    #expect(doctor.exit != .code(2) && doctor.errorOutput.isEmpty && !doctor.output.isEmpty, "\(doctor)")
  }

  @Test func listPrintsOneObjectALine() throws {
    let ana = try NotesUser("Ana")
    for title in ["One", "Two"] { _ = try run(ana, "new", title) }
    let notes = try run(ana, "list", "--json").objects
    #expect(notes.compactMap { $0["title"]?.stringValue }.sorted() == ["One", "Two"])
    #expect(notes.allSatisfy { $0["words"]?.intValue == 0 && $0["path"] != nil })
  }

  @Test func joiningAndLookingBackSayNothingButTheirResults() throws {
    let ana = try OpenNote(text: "milk\n")
    let ben = try NotesUser("Ben")
    let service = try ben.startInitialized()
    let joined = try run(ben, "join", try ana.ticket())
    #expect(joined.exit == .code(0) && joined.errors == "", "\(joined)")
    #expect(joined.output.hasSuffix("Shopping.md\n"))
    // Another process of the same person writes under that person's name.
    for _ in 0..<3 { #expect(try run(ana.user, "history", "Shopping").errors == "") }
    #expect(!ana.user.log.contains("claims an actor"), "\(ana.user.log)")
    let status = try run(ben, "status", "Shopping")
    #expect(status.output.contains("service    running") && status.output.contains("Ana"), "\(status)")
    #expect(try run(ben, "status", "--json").objects.first?["running"] == true)
    #expect(try run(ana.user, "unshare", "Shopping", "Ben").exit == .code(0))
    let afterwards = try run(ana.user, "status", "Shopping", "--json").objects.first
    let people = try #require(afterwards?["people"]?.arrayValue)
    #expect(people.allSatisfy { $0["access"] == "none" }, "\(people)")
    try service.shutdown()
  }

  /// A long note arrives in portions; the first one makes the file.
  @Test func joiningEndsWhenTheWholeTextIsInTheFile() throws {
    let text = String(repeating: "a line of fifty letters, with the one that ends it\n", count: 60_000)
    let ana = try OpenNote(text: text)
    let ben = try NotesUser("Ben")
    let service = try ben.startInitialized()
    let joined = try run(ben, "join", try ana.ticket())
    #expect(joined.exit == .code(0) && joined.output.hasSuffix("Shopping.md\n"), "\(joined)")
    let path = joined.output.trimmingCharacters(in: .newlines)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    try service.shutdown()
  }

  @Test func theNameIsPrintedAndChosen() throws {
    let ana = try NotesUser("Ana")
    #expect(try run(ana, "name", "Anastasia").output == "Anastasia\n")
    #expect(try run(ana, "name").output == "Anastasia\n", "it is kept")
    let process = try ana.start()
    try process.initialize(userName: "")
    #expect(try run(ana, "name", "Nastya").exit == .code(0))
    try process.waitFor("the name in the running service") {
      try process.request("notes/peers")["self"]?["name"] == "Nastya"
    }
    #expect(try run(ana, "name", " ").exit == .code(1))
  }

  @Test func beingSeenIsChosenWithoutAName() throws {
    let ana = try NotesUser("Ana")
    #expect(try run(ana, "name", "Anastasia", "--seen").exit == .code(0))
    #expect(FileManager.default.fileExists(atPath: ana.notes + "/.seen"))
    #expect(try run(ana, "name", "--no-seen").output == "Anastasia\n")
    #expect(!FileManager.default.fileExists(atPath: ana.notes + "/.seen"))
    #expect(try run(ana, "name").output == "Anastasia\n")
    #expect(!FileManager.default.fileExists(atPath: ana.notes + "/.seen"), "printing changes nothing")
  }

  @Test func aFolderHasNoTitleOfItsOwn() throws {
    let ana = try NotesUser("Ana")
    let folder = try ana.directory.directory("folder")
    try "milk\n".write(toFile: folder + "/a.md", atomically: true, encoding: .utf8)
    #expect(try run(ana, "import", folder, "--title", "Other").exit == .code(2))
    #expect(try run(ana, "list").output.isEmpty)
  }

  @Test func aCutFileOfMeetingNotesIsCalledDamaged() throws {
    let ana = try NotesUser("Ana")
    _ = try run(ana, "new", "Shopping")
    let file = ana.directory.file("a.meetingnotes")
    #expect(try run(ana, "export", "Shopping", file).exit == .code(0))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    try bytes.dropLast(7).write(to: URL(fileURLWithPath: file))
    for verb in [["import", file], ["merge", "Shopping", file]] {
      let result = try ChildProcess.run(
        [try #require(NotesBinary.path)] + verb + ["--home", ana.home, "--notes", ana.notes])
      let errors = String(decoding: result.errorOutput, as: UTF8.self)
      #expect(result.exit == .code(1) && errors.contains("is damaged, or a part of it is missing"), "\(errors)")
    }
  }

  @Test func aMeetingHasItsHistoryInItsItems() throws {
    let ana = try NotesUser("Ana")
    let file = ana.directory.file("meeting.json")
    try #"{"title": "Weekly", "agendas": [{"id": "1", "title": "Tea", "discussion": "milk"}]}"#
      .write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try run(ana, "import", file).exit == .code(0))
    for verb in ["history", "diff"] {
      let result = try run(ana, verb, "Weekly")
      #expect(result.exit == .code(1) && result.errors.contains("open one of its items"), "\(result)")
    }
  }

  @Test func withoutAServiceItIsSaidWhatIsNeeded() throws {
    let ana = try NotesUser("Ana")
    _ = try run(ana, "new", "Shopping")
    let shared = try run(ana, "share", "Shopping")
    #expect(shared.exit == .code(1) && shared.errors.contains("needs an editor with a note open"), "\(shared)")
    for result in [try run(ana, "peers"), try run(ana, "invite", "Shopping", "Ben")] {
      #expect(result.exit == .code(1) && result.errors.contains("needs an editor with a note open"), "\(result)")
    }
    let status = try run(ana, "status")
    #expect(status.exit == .code(0) && status.output.contains("not running"), "\(status)")
    let answers = try run(ana, "answer", "--accept")
    #expect(answers.exit == .code(1) && answers.errors.contains("No invitation is waiting"), "\(answers)")
  }

  @Test func exportsKeepWhatTheUmaskForbids() throws {
    let ana = try NotesUser("Ana")
    _ = try run(ana, "new", "Shopping")
    let binary = try #require(NotesBinary.path)
    func mode(_ umask: String, _ arguments: [String], _ path: String) throws -> Int? {
      let result = try ChildProcess.run(
        ["sh", "-c", "umask \(umask); exec \"$@\"", "sh", binary] + arguments
          + ["--home", ana.home, "--notes", ana.notes])
      #expect(result.exit == .code(0), "\(String(decoding: result.errorOutput, as: UTF8.self))")
      return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    for ending in ["automerge", "md"] {
      let path = ana.directory.file("private.\(ending)"), open = ana.directory.file("open.\(ending)")
      #expect(try mode("077", ["export", "Shopping", path], path) == 0o600)
      #expect(try mode("022", ["export", "Shopping", open], open) == 0o644)
    }
    // A working file that is written again after it was removed.
    #expect(try mode("077", ["new", "Secret"], ana.notes + "/Secret.md") == 0o600)
    try FileManager.default.removeItem(atPath: ana.notes + "/Secret.md")
    #expect(try mode("077", ["rename", "Secret", "Secret"], ana.notes + "/Secret.md") == 0o600)
    #expect(try mode("077", ["backup", ana.directory.file("copy.db")], ana.directory.file("copy.db")) == 0o600)
  }
}

import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The subcommands on a terminal, as a person sees them.
@Suite(
  .ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment),
  .enabled(if: NotesBinary.find("tmux") != nil, "SKIPPED: needs tmux"))
struct TerminalCommandTests {}

extension TerminalCommandTests {
  /// Runs a command of a person on a terminal of its own.
  private func terminal(_ user: NotesUser, _ arguments: [String]) throws -> Terminal {
    let binary = try #require(NotesBinary.path)
    let options = arguments.isEmpty ? [] : ["--home", user.home, "--notes", user.notes]
    return try Terminal(
      in: user.directory, name: "command\(UInt32.random(in: 0 ... .max))",
      command: ["sh", "-c", "\"$@\"; echo [ended]; exec cat", "sh", binary] + arguments + options,
      environment: ["NOTES_HOME": user.home, "NOTES_DIR": user.notes])
  }

  /// Waits until the screen shows a text, and returns the screen. Reads the output of these processes meanwhile.
  @discardableResult
  private func wait(
    for text: String, on terminal: Terminal, _ processes: NotesProcess...
  ) throws -> String {
    let deadline = ContinuousClock.now + Patience.hang
    while true {
      for process in processes { try process.collect() }
      let screen = try terminal.screen()
      if screen.contains(text) { return screen }
      guard ContinuousClock.now < deadline else {
        throw ProcessError.timedOut(waitingFor: "\"\(text)\" on the screen", details: screen)
      }
    }
  }

  @Test func theNameAloneSaysWhatThisIs() throws {
    let ana = try NotesUser("Ana")
    let screen = try wait(for: "[ended]", on: terminal(ana, []))
    #expect(screen.contains("multiplayer for the notes") && screen.contains("notes-lsp --help"), "\(screen)")
    // With options it serves, and says that it waits for an editor.
    let serving = try terminal(ana, ["--no-network"])
    try wait(for: "Waiting for an editor", on: serving)
  }

  @Test func aMistypedCommandIsNamedWithTheNearestOne() throws {
    let ana = try NotesUser("Ana")
    let mistyped = try terminal(ana, ["shwo", "x"])
    try wait(for: "notes-lsp: There is no command \"shwo\"; did you mean \"show\"?", on: mistyped)
    let strange = try terminal(ana, ["nonsense"])
    try wait(for: "There is no command \"nonsense\"; notes-lsp --help lists them.", on: strange)
    #expect(try ana.run(["shwo", "x"]).exit == .code(2))
  }

  @Test func importingManyFilesShowsHowFarItIsAndGoesOnAfterOneThatCannotBeRead() throws {
    let ana = try NotesUser("Ana")
    let count = 25
    let files = try (1...count).map { number in
      let file = ana.directory.file("\(number).md")
      try "# Note \(number)\n".write(toFile: file, atomically: true, encoding: .utf8)
      return file
    }
    let terminal = try terminal(ana, ["import"] + files[..<10] + [ana.directory.file("missing.md")] + files[10...])
    let bar = "Importing [##############################] 26 of 26"
    let screen = try wait(for: "[ended]", on: terminal)
    // The progress bar clears its line.
    #expect(!screen.contains(bar) && screen.contains("1 of 26 files were not imported."), "\(screen)")
    let listed = try ana.run(["list"])
    #expect(listed.output.split(separator: "\n").count == count, "\(listed.output)")

    // Without a terminal, lines on standard error report the progress, and standard output has only the paths.
    let binary = try #require(NotesBinary.path)
    let again = try ChildProcess.run(
      [binary, "import"] + Array(repeating: files[0], count: 100) + ["--home", ana.home, "--notes", ana.notes])
    #expect(String(decoding: again.errorOutput, as: UTF8.self).contains("Importing: 50 of 100\n"), "\(again)")

    // The files of a folder count as if they were arguments.
    let folder = try ana.directory.directory("folder")
    for number in 1...100 {
      try "# Note\n".write(toFile: "\(folder)/\(number).txt", atomically: true, encoding: .utf8)
    }
    let whole = try ChildProcess.run([binary, "import", folder, "--home", ana.home, "--notes", ana.notes])
    #expect(String(decoding: whole.errorOutput, as: UTF8.self).contains("Importing: 50 of 100\n"), "\(whole)")
  }

  /// A command's output to a terminal, including the lines that it has overwritten.
  private func written(by user: NotesUser, _ arguments: [String]) throws -> String {
    let binary = try #require(NotesBinary.path)
    let result = try ChildProcess.run(
      ["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])", binary] + arguments
        + ["--home", user.home, "--notes", user.notes])
    return String(decoding: result.output, as: UTF8.self)
  }

  @Test func importingOneLargeFileShowsHowMuchOfItIsInTheNote() throws {
    let ana = try NotesUser("Ana")
    for (name, megabytes) in [("large", 5), ("small", 1)] {
      let file = ana.directory.file("\(name).md")
      try String(repeating: "a line of fifty letters, with the one that ends it\n", count: megabytes * 20_000)
        .write(toFile: file, atomically: true, encoding: .utf8)
      let output = try written(by: ana, ["import", file])
      #expect(output.contains("\rImporting [") == (name == "large"), "\(output)")
      // The progress bar clears its line.
      if name == "large" { #expect(output.contains("2 of 5 MB\r") && output.contains("\r\u{1B}[K/"), "\(output)") }
      #expect(output.contains("\(name).md"))
    }
    // Without a terminal, the command reports progress only if it takes long.
    let binary = try #require(NotesBinary.path)
    let again = try ChildProcess.run(
      [binary, "import", ana.directory.file("large.md"), "--home", ana.home, "--notes", ana.notes])
    #expect(again.exit == .code(0) && again.errorOutput.isEmpty, "\(again)")
  }

  @Test func whatActsOnATerminalIsShownAsItsNumber() throws {
    let ana = try NotesUser("Ana")
    let process = try ana.startInitialized()
    let attack = "\u{1B}]52;c;ZXZpbA==\u{07}\u{202E}evil\u{9B}2J"
    let note = try process.request(
      "notes/create", ["title": .string("Shop\u{202E}\u{9B}2Jping"), "text": .string("milk \(attack)\nbread\n")])
    try process.waitFor("it is stored") { try process.request("notes/status")["stored"] == true }
    let id = try #require(note["id"]?.stringValue)
    for verb in [
      ["list"], ["show", id], ["history", id], ["find", "milk"], ["list", "--json"], ["show", id, "--json"],
      ["export", id, "-"],
    ] {
      let screen = try wait(for: "[ended]", on: terminal(ana, verb))
      // The service shows only those characters of a title that stay in its line.
      let shown = verb[0] == "list" ? "Shop 2Jping" : verb.contains("--json") ? "\\u202E" : "<U+202E>"
      #expect(screen.contains(shown), "\(verb): \(screen)")
      #expect(!screen.unicodeScalars.contains { [0x1B, 0x9B, 0x202E].contains($0.value) }, "\(verb): \(screen)")
    }
    // A pipe gets the text unchanged.
    #expect(try ana.run(["show", id]).output == "milk \(attack)\nbread\n")
  }

  @Test func aLineBreakInATitleForgesNoLine() throws {
    let ana = try NotesUser("Ana")
    let process = try ana.startInitialized()
    try process.request("notes/create", ["title": "Shopping\nforged  line"])
    let lines = try ana.run(["list"]).output.split(separator: "\n")
    #expect(lines.count == 1 && lines[0].contains("Shopping forged"), "\(lines)")
  }

  @Test func purgingAsksFirst() throws {
    let ana = try NotesUser("Ana")
    #expect(try ana.run(["new", "Shopping"]).exit == .code(0))
    #expect(try ana.run(["rm", "Shopping"]).exit == .code(0))
    for (answer, left) in [("", 1), ("n", 1), ("y", 0)] {
      let purging = try terminal(ana, ["purge", "Shopping"])
      try wait(for: "This cannot be undone. [y/N]", on: purging)
      try purging.type(answer)
      try purging.press("Enter")
      try wait(for: "[ended]", on: purging)
      #expect(try ana.run(["list", "--deleted"]).output.split(separator: "\n").count == left)
    }
  }

  /// Two people on one network who have not met, and a note of the first.
  private struct Strangers {
    let ana: NotesUser
    let ben: NotesUser
    let anas: NotesProcess
    let bens: NotesProcess
    let network: NetworkNamespaces
    let note: JSONValue

    init() throws {
      network = try NetworkNamespaces(count: 2)
      (ana, ben) = (try NotesUser("Ana"), try NotesUser("Ben"))
      anas = try ana.startInTheOpen(prefix: network.prefix(0))
      bens = try ben.startInTheOpen(prefix: network.prefix(1))
      note = try anas.request("notes/create", ["title": "Plans", "text": "one\n"])
      try NotesProcess.wait(for: "being found", of: [anas, bens]) { [anas] in
        try anas.request("notes/peers")["peers"]?.arrayValue?.contains { $0["name"] == "Ben" } ?? false
      }
    }

    /// Ben accepts. Returns the number of his request, which is answered when Ana has confirmed.
    func accept() throws -> (request: Int, code: String) {
      var found: JSONValue?
      try NotesProcess.wait(for: "the invitation", of: [anas, bens]) {
        found = try bens.request("notes/invitations")["invitations"]?[0]
        return found != nil
      }
      let id = bens.startRequest("notes/answer", ["invitation": found?["invitation"] ?? .null, "accept": true])
      let code = try #require(found?["code"]?.stringValue)
      return (id, "\(code.prefix(3)) \(code.dropFirst(3))")
    }

    var bensNotes: Int {
      get throws { try bens.request("notes/list")["notes"]?.arrayValue?.count ?? 0 }
    }
  }

  private static let hasNamespaces = NetworkNamespaces.problem == nil
  private static let noNamespaces: Comment = "SKIPPED: network namespaces are not allowed here"

  @Test(.enabled(if: hasNamespaces, noNamespaces)) func invitingWaitsForTheOtherPersonAndAsksForTheCode() throws {
    let two = try Strangers()
    let inviting = try terminal(two.ana, ["invite", "Plans", "Ben"])
    let screen = try wait(for: "Waiting for Ben to accept", on: inviting, two.anas, two.bens)
    let (request, code) = try two.accept()
    #expect(screen.contains(code), "\(screen)")
    try wait(for: "Does Ben see the code \(code)?", on: inviting, two.anas, two.bens)
    #expect(try two.bensNotes == 0, "nothing is shared before the codes are compared")
    try inviting.type("y")
    try inviting.press("Enter")
    try wait(for: "Ben has joined.", on: inviting, two.anas, two.bens)
    try NotesProcess.wait(for: "the note at Ben's", of: [two.anas, two.bens]) { try two.bensNotes == 1 }
    _ = request
  }

  @Test(.enabled(if: hasNamespaces, noNamespaces)) func codesThatDifferShareNothing() throws {
    let two = try Strangers()
    let inviting = try terminal(two.ana, ["invite", "Plans", "Ben"])
    try wait(for: "Waiting for Ben to accept", on: inviting, two.anas, two.bens)
    _ = try two.accept()
    try wait(for: "Does Ben see the code", on: inviting, two.anas, two.bens)
    try inviting.type("n")
    try inviting.press("Enter")
    try wait(for: "nothing was shared", on: inviting, two.anas, two.bens)
    #expect(try two.bensNotes == 0)
  }

  @Test(.enabled(if: hasNamespaces, noNamespaces)) func withoutATerminalAnswerConfirmsTheCode() throws {
    let two = try Strangers()
    let invited = try two.ana.run(["invite", "Plans", "Ben"])
    #expect(invited.exit == .code(0) && invited.output.contains("notes-lsp answer"), "\(invited)")
    let (_, code) = try two.accept()
    #expect(invited.output.contains(code))
    try NotesProcess.wait(for: "the acceptance", of: [two.anas, two.bens]) {
      try two.ana.run(["answer"]).output.contains("Ben accepted \"Plans\", code \(code)")
    }
    #expect(try two.bensNotes == 0, "nothing is shared before the codes are compared")
    #expect(try two.ana.run(["answer", "Ben", "--accept"]).exit == .code(0))
    try NotesProcess.wait(for: "the note at Ben's", of: [two.anas, two.bens]) { try two.bensNotes == 1 }
  }

  @Test(.enabled(if: hasNamespaces, noNamespaces)) func anInvitationIsAnsweredFromAShell() throws {
    let two = try Strangers()
    try two.anas.request("notes/invite", ["id": two.note["id"] ?? .null, "peer": "Ben", "confirm": true])
    try NotesProcess.wait(for: "the invitation", of: [two.anas, two.bens]) {
      try two.ben.run(["answer"]).output.contains("Ana invites you to \"Plans\", code")
    }
    #expect(try two.ben.run(["answer", "Ana", "--decline"]).exit == .code(0))
    try NotesProcess.wait(for: "no invitation", of: [two.anas, two.bens]) { try two.ben.run(["answer"]).output.isEmpty }
  }
}

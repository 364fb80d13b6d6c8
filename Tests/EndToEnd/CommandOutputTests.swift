import Foundation
import NotesHarness
import TestSupport
import Testing

/// What commands do when their output cannot be written, and with input that is not text.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct CommandOutputTests {}

extension CommandOutputTests {
  /// Runs a command of a person in a shell, with what follows it in the script.
  private func run(
    _ user: NotesUser, _ arguments: [String], _ rest: String, before: String = ""
  ) throws -> (exit: ChildProcess.Exit, output: String, errors: String) {
    let binary = try #require(NotesBinary.path)
    let result = try ChildProcess.run(
      ["bash", "-c", "\(before) \"$@\" \(rest)", "bash", binary] + arguments + [
        "--home", user.home, "--notes", user.notes,
      ])
    return (
      result.exit, String(decoding: result.output, as: UTF8.self), String(decoding: result.errorOutput, as: UTF8.self)
    )
  }

  @Test func outputThatCannotBeWrittenIsAFailure() throws {
    let ana = try NotesUser("Ana")
    _ = try run(ana, ["new", "Shopping", "--stdin"], "", before: "echo milk |")
    let verbs = [
      ["list"], ["list", "--json"], ["show", "Shopping"], ["show", "Shopping", "--json"], ["find", "milk"], ["status"],
      ["doctor"], ["fsck"], ["history", "Shopping"],
    ]
    for verb in verbs {
      let full = try run(ana, verb, ">/dev/full")
      #expect(full.exit == .code(1) && full.errors.contains("The output cannot be written"), "\(verb): \(full)")
    }
    let closed = try run(ana, ["show", "Shopping"], ">&-")
    #expect(closed.exit == .code(1) && closed.errors.contains("The output cannot be written"), "\(closed)")
    let file = ana.directory.file("a.automerge")
    #expect(try ana.run(["export", "Shopping", file]).exit == .code(0))
    let binary = try #require(NotesBinary.path)
    for verb in ["dump", "validate", "--help"] {
      let full = try ChildProcess.run(["bash", "-c", "\"$@\" >/dev/full", "bash", binary, verb, file])
      #expect(full.exit == .code(1), "\(verb): \(full)")
    }
  }

  @Test(arguments: ["2>/dev/full", "2>&-"]) func anErrorThatCannotBeWrittenIsStillOnlyAnError(rest: String) throws {
    let ana = try NotesUser("Ana")
    _ = try ana.run(["new", "Shopping"])
    #expect(try run(ana, ["show", "none"], rest).exit == .code(1))
    #expect(try run(ana, ["find"], rest).exit == .code(2))
    #expect(try run(ana, ["nonsense"], rest).exit == .code(2))
    #expect(try run(ana, ["purge", "Shopping", "--yes"], rest).exit == .code(1))
    #expect(try run(ana, ["list"], rest).exit == .code(0))
    #expect(try run(ana, ["fsck"], rest).exit == .code(0), "no message was written into the store")
  }

  @Test func whatTheServiceLogsIsNotPrinted() throws {
    let ana = try NotesUser("Ana")
    let made = try ana.run(["new", "Tea"])
    let path = made.output.trimmingCharacters(in: .newlines)
    try "milk\n".write(toFile: path, atomically: true, encoding: .utf8)
    let renamed = try run(ana, ["rename", "Tea", "Coffee"], "")
    #expect(renamed.exit == .code(0) && renamed.errors.isEmpty, "\(renamed)")
    #expect(
      try ana.run(["show", "Coffee"]).output == "milk\n", "what another program wrote is merged, which the service logs"
    )
    // A failure is one sentence.
    try Data([0xFF, 0xFE]).write(to: URL(filePath: ana.notes + "/Coffee.md"))
    let failed = try run(ana, ["rename", "Coffee", "Tea"], "")
    #expect(failed.exit == .code(1) && failed.errors == "notes-lsp: The file is not UTF-8.\n", "\(failed)")
  }

  @Test func aReaderThatHasSeenEnoughIsNoError() throws {
    let ana = try NotesUser("Ana")
    let lines = String(repeating: "a line\n", count: 100_000)
    let file = ana.directory.file("long.md")
    try lines.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try ana.run(["import", file]).exit == .code(0))
    let head = try run(ana, ["show", "long"], "| head -n 1")
    #expect(head.output == "a line\n" && head.errors.isEmpty, "\(head)")
  }

  @Test func bytesThatAreNotUTF8AreRefusedByNew() throws {
    let ana = try NotesUser("Ana")
    let text = try run(ana, ["new", "Shopping", "--stdin"], "", before: "printf 'caf\\351' |")
    #expect(text.exit == .code(1) && text.errors.contains("not UTF-8"), "\(text)")
    let title = try run(ana, [], "new $'caf\\351'")
    #expect(title.exit != .code(0), "options stand before the title: \(title)")
    let binary = try #require(NotesBinary.path)
    let titled = try ChildProcess.run([
      "bash", "-c", "\"$1\" new $'caf\\351' --home \"$2\" --notes \"$3\"", "bash", binary, ana.home, ana.notes,
    ])
    #expect(titled.exit == .code(2), "\(titled)")
    #expect(try ana.run(["new", "caf\u{FFFD}"]).exit == .code(0), "a person may write this character")
    #expect(try ana.run(["list"]).output.split(separator: "\n").count == 1)
  }

  @Test func aNoteIsExportedToStandardOutput() throws {
    let ana = try NotesUser("Ana")
    _ = try run(ana, ["new", "Shopping", "--stdin"], "", before: "echo milk |")
    let text = try run(ana, ["export", "Shopping", "-"], "")
    #expect(text.exit == .code(0) && text.output == "milk\n", "\(text)")
    let document = try run(ana, ["export", "Shopping", "-", "--format", "automerge"], "| head -c 4 | od -An -tx1")
    #expect(document.output.trimmingCharacters(in: .whitespacesAndNewlines) == "85 6f 4a 83", "\(document)")
    #expect(try ana.run(["export", "Shopping", "-", "--format", "automerge-repo"]).exit == .code(2))
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }

  @Test func theStoresOwnFilesAreNotReplaced() throws {
    let ana = try NotesUser("Ana")
    _ = try ana.run(["new", "Shopping"])
    let link = ana.directory.file("link.md")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: ana.home + "/identity.pem")
    for path in [ana.home + "/notes.db", ana.home + "/../home/identity.pem", link] {
      let export = try run(ana, ["export", "Shopping", path, "--format", "markdown", "--force"], "")
      #expect(export.exit == .code(1) && export.errors.contains("the store's own file"), "\(export)")
    }
    let backup = try run(ana, ["backup", ana.home + "/notes.db", "--force"], "")
    #expect(backup.exit == .code(1) && backup.errors.contains("the store's own file"), "\(backup)")
    #expect(try ana.run(["list"]).output.contains("Shopping"))
  }
}

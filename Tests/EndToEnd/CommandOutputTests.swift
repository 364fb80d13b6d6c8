import Foundation
import NotesHarness
import TestSupport
import Testing

/// What commands do when their output cannot be written, and with input that is not text.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct CommandOutputTests {
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

  @Test func aReaderThatHasSeenEnoughIsNoError() throws {
    let ana = try NotesUser("Ana")
    let lines = String(repeating: "a line\n", count: 100_000)
    let file = ana.directory.file("long.md")
    try lines.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try ana.run(["import", file]).exit == .code(0))
    let head = try run(ana, ["show", "long"], "| head -n 1")
    #expect(head.output == "a line\n" && head.errors.isEmpty, "\(head)")
  }
}

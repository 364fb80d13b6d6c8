import Foundation
import NotesHarness
import TestSupport
import Testing

@Suite(.ownThreads) struct ChildProcessTests {}

extension ChildProcessTests {
  @Test(arguments: [ChildProcess.Input.pipe, .socket, .terminal])
  func whatIsWrittenComesBackFromCat(input: ChildProcess.Input) throws {
    let child = try ChildProcess(["cat"], input: input)
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
    child.write(bytes)
    try child.wait(for: "the bytes", until: .now + Patience.hang) { $0.output.count >= bytes.count }
    #expect(child.output == bytes)
    if case .terminal = input { return }
    child.closeInput()
    #expect(try child.waitForExit() == .code(0))
  }

  @Test func testsRunOnThreadsThatMayBlock() throws {
    #expect(Thread.current.threadDictionary[BlockingExecutor.mark] != nil)
    let result = try ChildProcess.run(["sh", "-c", "echo out; echo problem >&2; exit 3"])
    #expect(result.exit == .code(3))
    #expect(result.output == Array("out\n".utf8))
    #expect(result.errorOutput == Array("problem\n".utf8))
  }

  @Test func aKilledProcessTellsTheSignal() throws {
    let child = try ChildProcess(["cat"])
    child.send(signal: SIGKILL)
    #expect(try child.waitForExit() == .signal(SIGKILL))
  }

  @Test func aChildListensToSignals() throws {
    let child = try ChildProcess(["cat"])
    child.send(signal: SIGTERM)
    #expect(try child.waitForExit() == .signal(SIGTERM))
  }

  @Test func nothingIsLeftOfATerminal() throws {
    var terminal: Terminal? = try Terminal(
      in: TemporaryDirectory(), name: "left", command: ["cat"], environment: [:])
    let program = try #require(terminal?.programProcessId)
    #expect(kill(program, 0) == 0)
    terminal = nil
    // A process that is no child of this one does not report its end.
    #expect(Polling.comesTrue { !EditorSession.isRunning(program) })
  }

  @Test func waitingEndsAtItsDeadline() throws {
    let child = try ChildProcess(["cat"])
    #expect(throws: ProcessError.self) { try child.waitForExit(within: .milliseconds(30)) }
  }

  @Test func theEnvironmentAndFilesAreHandedOver() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("input")
    try Data("from a file\n".utf8).write(to: URL(fileURLWithPath: path))
    let child = try ChildProcess(
      ["sh", "-c", "cat; echo \"$GREETING\""], environment: ["GREETING": "hello"], input: .file(path))
    #expect(try child.waitForExit() == .code(0))
    #expect(child.output == Array("from a file\nhello\n".utf8))
  }
}

import Foundation
import Testing

/// The chat of the tutorial: two processes, and the page has its code.
struct ChatTests {
  /// A terminal that runs the chat.
  private final class Terminal {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var lines: AsyncStream<String>.Iterator

    init(_ arguments: [String]) throws {
      let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      // A pipe is no terminal, and would get its lines at the end.
      process.executableURL = URL(fileURLWithPath: "/usr/bin/stdbuf")
      process.arguments = ["-oL", folder.appendingPathComponent("chat").path] + arguments
      (process.standardInput, process.standardOutput) = (input, output)
      let (stream, continuation) = AsyncStream.makeStream(of: String.self)
      let handle = output.fileHandleForReading
      Thread.detachNewThread {
        var rest = Data()
        while true {
          let data = handle.availableData
          if data.isEmpty { break }
          rest += data
          while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
            rest = Data(rest[rest.index(after: end)...])
          }
        }
        continuation.finish()
      }
      lines = stream.makeAsyncIterator()
      try process.run()
    }

    deinit { process.terminate() }

    func type(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    func nextLine() async -> String? { await lines.next() }

    /// The end of the input; returns the exit code.
    func close() throws -> Int32 {
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  @Test func twoTerminalsChat() async throws {
    // Another run of the tests on the same network would be of the group.
    let passcode = UUID().uuidString
    let ana = try Terminal(["Ana", passcode])
    let words = try #require(await ana.nextLine()).split(separator: " ").map(String.init)
    let (url, place) = (words[words.count - 2], words[words.count - 1])
    try ana.type("Anybody here?")
    #expect(await ana.nextLine() == "Ana: Anybody here?")
    let ben = try Terminal(["Ben", passcode, url, place])
    try ben.type("I am.")
    #expect(await ben.nextLine() == "Ana: Anybody here?")
    #expect(await ben.nextLine() == "Ben: I am.")
    #expect(await ana.nextLine() == "Ben: I am.")
    try ana.type("Good.")
    #expect(await ben.nextLine() == "Ana: Good.")
    #expect(try ben.close() == 0)
    #expect(try ana.close() == 0)
  }

  @Test func theTutorialHasTheCodeOfTheChat() throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
    let chat = try String(contentsOf: package.appendingPathComponent("Sources/Chat/Chat.swift"), encoding: .utf8)
    let page = try String(
      contentsOf: package.appendingPathComponent("../../Sources/AutomergeRepo/AutomergeRepo.docc/ChatTutorial.md"),
      encoding: .utf8)
    #expect(page.contains("```swift\n" + chat + "```"))
    #expect(chat.split(separator: "\n").count { !$0.contains("//") } <= 40)
  }
}

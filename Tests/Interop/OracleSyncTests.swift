import Automerge
import Foundation
import TestSupport
import Testing

/// A session with `oracle.py sync-serve`, which takes strict turns and saves what it got when the pipe ends.
@Suite(
  .enabled(if: Reference.python != nil, Comment(rawValue: Reference.absence)),
  .enabled(if: Reference.oracle != nil, Comment(rawValue: Vectors.absence)))
struct OracleSyncTests {}

extension OracleSyncTests {
  private func frame(_ message: Data?) -> [UInt8] {
    let count = UInt32(message?.count ?? 0)
    return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + (message.map(Array.init) ?? [])
  }

  private func takeFrame(from child: ChildProcess) throws -> Data? {
    func length(_ bytes: [UInt8]) -> Int? {
      guard bytes.count >= 4 else { return nil }
      let count = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
      return bytes.count < 4 + count ? nil : count
    }
    try child.wait(for: "a frame", until: .now + Patience.hang) { length($0.output) != nil }
    let count = try #require(length(child.output))
    defer { child.output.removeFirst(4 + count) }
    return count == 0 ? nil : Data(child.output[4..<4 + count])
  }

  @Test(arguments: [true, false])
  func bothWaysEndWithTheSameDocument(oracleHasIt: Bool) throws {
    let (python, oracle) = (try #require(Reference.python), try #require(Reference.oracle))
    let directory = try TemporaryDirectory()
    let full = Replica()
    let content = try full.makeContent()
    for word in ["one ", "two ", "drei 😀 "] {
      try full.document.spliceText(obj: content, start: 0, delete: 0, value: word)
      full.document.commitWith()
    }
    var command = [python, oracle, "sync-serve", "-o", directory.file("out")]
    if oracleHasIt {
      try full.document.save().write(to: URL(filePath: directory.file("in")))
      command.append(directory.file("in"))
    }
    let child = try ChildProcess(command)
    let ours = oracleHasIt ? Replica() : full
    var silent = 0
    while silent < 2 {
      let message = ours.document.generateSyncMessage(state: ours.state)
      child.write(frame(message))
      let reply = try takeFrame(from: child)
      if let reply { try ours.document.receiveSyncMessage(state: ours.state, message: reply) }
      silent = message == nil && reply == nil ? silent + 1 : 0
    }
    child.closeInput()
    #expect(try child.waitForExit() == .code(0))
    let saved = Replica(try Document(Data(contentsOf: URL(filePath: directory.file("out")))))
    #expect(saved.heads == full.heads)
    #expect(ours.heads == full.heads)
    #expect(saved.text == full.text)
    #expect(ours.text == full.text)
  }
}

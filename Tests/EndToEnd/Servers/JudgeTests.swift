import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The judge of histories finds every kind of violation.
@Suite(.ownThreads, .enabled(if: NotesBinary.find("python3") != nil, "SKIPPED: needs python3"))
struct JudgeTests {}

extension JudgeTests {
  private static let typing: [JSONValue] = [
    ["at": 1, "do": "type", "who": "Ana", "word": "Ana-1"], ["at": 2, "do": "see", "who": "Ben", "words": ["Ana-1"]],
    ["at": 3, "do": "type", "who": "Ben", "word": "Ben-1"], ["at": 4, "do": "acknowledge", "who": "Ben"],
    ["at": 5, "do": "type", "who": "Ana", "word": "Ana-2"],
  ]

  private static func ends(_ ana: String, _ ben: String) -> [JSONValue] {
    [("Ana", ana), ("Ben", ben)].map { ["at": 9, "do": "end", "who": .string($0), "text": .string($1)] }
  }

  private func verdict(_ history: [JSONValue]) throws -> (isGood: Bool, text: String) {
    let directory = try TemporaryDirectory()
    try Data(history.map { $0.encoded() }.joined(separator: [10]))
      .write(to: URL(fileURLWithPath: directory.file("history")))
    let judge = NotesBinary.packageRoot + "/Tests/EndToEnd/check_history.py"
    let result = try ChildProcess.run(["python3", judge, directory.file("history"), directory.file("report")])
    return (result.exit == .code(0), String(decoding: result.output + result.errorOutput, as: UTF8.self))
  }

  @Test func whatIsWellIsFoundWell() throws {
    let all = "Ana: Ana-1 Ana-2 \nBen: Ben-1 \n"
    let verdict = try verdict(
      Self.typing + [["at": 8, "do": "see", "who": "Ana", "words": ["Ben-1"]]] + Self.ends(all, all))
    #expect(verdict.isGood && verdict.text.contains("all hold"), "\(verdict.text)")
  }

  @Test(arguments: [
    ("convergence", "Ana-1 Ana-2 Ben-1 ", "Ben-1 Ana-1 Ana-2 "), ("acknowledged", "Ana-1 Ana-2 ", "Ana-1 Ana-2 "),
    ("typed", "Ana-1 Ben-1 ", "Ana-1 Ben-1 "), ("twice", "Ana-1 Ana-2 Ana-2 Ben-1 ", "Ana-1 Ana-2 Ana-2 Ben-1 "),
    ("never typed", "Ana-1 Ana-2 Ben-1 Cyd-1 ", "Ana-1 Ana-2 Ben-1 Cyd-1 "),
    ("order", "Ana-2 Ana-1 Ben-1 ", "Ana-2 Ana-1 Ben-1 "),
  ])
  func whatIsWrongInTheEndIsFound(name: String, ana: String, ben: String) throws {
    let verdict = try verdict(Self.typing + Self.ends(ana, ben))
    #expect(!verdict.isGood && verdict.text.contains(name), "\(verdict.text)")
  }

  @Test func aWordWithoutWhatItsAuthorHadIsFound() throws {
    let all = "Ana-1 Ana-2 Ben-1 "
    let verdict = try verdict(
      Self.typing + [["at": 6, "do": "see", "who": "Cyd", "words": ["Ben-1"]]] + Self.ends(all, all))
    #expect(!verdict.isGood && verdict.text.contains("causality: Cyd"), "\(verdict.text)")
  }
}

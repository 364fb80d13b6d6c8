import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Two real editors, each on its own service, doing random things to one note at the same time.
///
/// `NOTES_FUZZ_COMMANDS` is the number of commands each editor performs, `NOTES_FUZZ_SEEDS` the list of seeds,
/// `NOTES_FUZZ_DELAY` the longest delay between an editor and its service in milliseconds.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorFuzzTests {}

extension EditorFuzzTests {
  static let commandCount = numbers(fromEnvironment: "NOTES_FUZZ_COMMANDS")?.first ?? 40
  static let seeds = (numbers(fromEnvironment: "NOTES_FUZZ_SEEDS") ?? [1]).map { UInt64($0) }
  static let delay = Duration.milliseconds(numbers(fromEnvironment: "NOTES_FUZZ_DELAY")?.first ?? 50)

  @Test(arguments: seeds) func vimAndVimConverge(seed: UInt64) throws {
    try converge(VimUnderTest.self, VimUnderTest.self, seed: seed)
  }

  @Test(arguments: seeds) func vimAndEmacsConverge(seed: UInt64) throws {
    try converge(VimUnderTest.self, EmacsUnderTest.self, seed: seed)
  }

  @Test(arguments: seeds) func emacsAndEmacsConverge(seed: UInt64) throws {
    try converge(EmacsUnderTest.self, EmacsUnderTest.self, seed: seed)
  }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"), arguments: seeds)
  func neovimAndVimConverge(seed: UInt64) throws {
    try converge(NeovimUnderTest.self, VimUnderTest.self, seed: seed)
  }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"), arguments: seeds)
  func neovimAndEmacsConverge(seed: UInt64) throws {
    try converge(NeovimUnderTest.self, EmacsUnderTest.self, seed: seed)
  }

  private func converge<First: EditorUnderTest, Second: EditorUnderTest>(
    _ first: First.Type, _ second: Second.Type, seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let ana = try First(user: NotesUser("Ana"), seed: seed &* 2, maximumDelay: Self.delay)
    let ben = try Second(user: NotesUser("Ben"), seed: seed &* 2 + 1, maximumDelay: Self.delay)
    let id = try ana.createAndShare("Fuzz", with: ben)
    let editors: [any EditorUnderTest] = [ana, ben]

    do {
      var tempo = 10
      for number in 1...Self.commandCount * 2 {
        try editors[random.below(2)].performRandomCommand(random.below(1 << 30))
        Polling.randomRest(milliseconds: random.below(tempo))
        // People hurry, dawdle, and stop to think. If a person never pauses, every edit of the other one arrives too
        // late.
        if number % 60 == 0 {
          try rest(editors)
          tempo = [2, 20, 120][random.below(3)]
        }
      }
      for editor in editors { try editor.settle() }
      let text = try EqualBuffers.wait(for: editors)
      for editor in editors { try editor.quit() }
      for editor in editors { try editor.session.waitForEnd() }
      for editor in editors {
        let stored = try editor.session.user.storedText(of: id)
        #expect(stored == text, "the document differs from the buffers, seed \(seed)")
        let audits = try editor.session.audits()
        #expect(audits.flatMap(\.complaints) == [], "seed \(seed)")
        #expect(audits.count == 1, "the service did not live through it, seed \(seed)")
        print(
          "\(type(of: editor).kind), seed \(seed): \(audits.map(\.editCount)) edits came,"
            + " \(audits.map(\.droppedCount)) were dropped as too late, \(audits.map(\.checkCount)) checks right,"
            + " \(audits.map(\.fullTextCount)) full texts, \(text.utf8.count) bytes at the end")
      }
    } catch {
      let audits = editors.map { (try? $0.session.audits().flatMap(\.complaints)) ?? [] }
      Issue.record("seed \(seed): \(error)\nThe audits say: \(audits)\nThe other editor:\n\(ben.session.details)")
    }
  }

  /// Lets the editors catch up, though not for long.
  private func rest(_ editors: [any EditorUnderTest]) throws {
    _ = try Polling.comesTrue(within: .seconds(3), lookingEvery: .milliseconds(50)) {
      let states = try editors.compactMap { try $0.state() }
      return states.count == 2 && states[0].text == states[1].text
    }
  }
}

extension EditorSession {
  /// Whether the service's last `notes/check` was for exactly this text.
  func proves(text: [UInt8]) throws -> Bool {
    try audits().last?.buffers.values.contains { $0.isChecked && $0.text.bytes == text } ?? false
  }
}

extension EditorUnderTest {
  /// Creates and shares a note in this editor and joins it in the other; returns the document id when both have it.
  func createAndShare(_ title: String, with other: any EditorUnderTest) throws -> String {
    try createNote(title)
    let id = try waitUntilAttached()
    try share()
    try other.join(waitForTicket())
    let joined = try other.waitUntilAttached()
    try #require(joined == id)
    return id
  }
}

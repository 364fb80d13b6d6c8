import Foundation
import NotesHarness
import TestSupport
import Testing

/// Vim, Emacs and Neovim, each on a service of its own, in one note: their people type at random, undo and redo, follow each other,
/// read the file again and split their windows, and in every run one service is killed.
///
/// `NOTES_FUZZ_COUNT=60` runs as many seeds (default 20), `NOTES_FUZZ_SEEDS=17,18` just these. `NOTES_FUZZ_KEEP` names
/// a folder for the traffic of failed seeds.
@Suite(
  .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment),
  .enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
struct ThreeEditorsTests {}

extension ThreeEditorsTests {
  /// How many seeds one set of editors runs: starting the editors takes longer than a seed.
  private static let seedsPerSet = 4
  private static let sets: [[UInt64]] = {
    let seeds = numbers(fromEnvironment: "NOTES_FUZZ_SEEDS") ?? Array(1...max(1, count))
    return stride(from: 0, to: seeds.count, by: seedsPerSet).map { start in
      seeds[start..<min(start + seedsPerSet, seeds.count)].map { UInt64($0) }
    }
  }()
  private static let count = numbers(fromEnvironment: "NOTES_FUZZ_COUNT")?.first ?? 20

  @Test(arguments: sets) func threeEditorsOfDifferentKindsConverge(seeds: [UInt64]) throws {
    let three = try ThreeEditors(seed: seeds[0])
    for seed in seeds {
      do {
        try three.play(seed)
      } catch {
        // Further seeds in these editors would prove nothing.
        three.keepTraffic(of: seed)
        Issue.record("seed \(seed), again by `make together SEED=\(seed)`: \(error)\n\(three.details)")
        return
      }
    }
    try three.end()
  }
}

/// Three people, their random actions on one note after the other, and the checks at the end.
private final class ThreeEditors {
  private static let stepCount = 36

  private let editors: [any EditorUnderTest]
  private let names = ["Ana", "Ben", "Cem"]
  private var events: [String] = []
  private var texts: [(seed: UInt64, id: String, text: String)] = []

  init(seed: UInt64) throws {
    let delay = Duration.milliseconds(20)
    editors = [
      try VimUnderTest(user: NotesUser(names[0]), seed: seed &* 3, maximumDelay: delay),
      try EmacsUnderTest(user: NotesUser(names[1]), seed: seed &* 3 + 1, maximumDelay: delay),
      try NeovimUnderTest(user: NotesUser(names[2]), seed: seed &* 3 + 2, maximumDelay: delay),
    ]
  }

  var details: String {
    (events + zip(names, editors).map { "\($0): \($1.session.details)" }).joined(separator: "\n")
  }

  /// Copies the messages between editors and services to the folder that `NOTES_FUZZ_KEEP` names.
  func keepTraffic(of seed: UInt64) {
    guard let folder = ProcessInfo.processInfo.environment["NOTES_FUZZ_KEEP"] else { return }
    for editor in editors {
      for (path, _) in editor.session.records {
        let name = "\(seed)-" + (path as NSString).lastPathComponent
        try? FileManager.default.copyItem(atPath: path, toPath: folder + "/" + name)
      }
    }
  }

  /// Runs one seed: a new note, random actions, and the same text everywhere at the end.
  func play(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    events = []
    let id = try shareNote("Seed \(seed)", by: Int(seed / 3 % 3))
    // Kills the services in turns: an editor does not restart a service that dies five times within a few seconds.
    let (killed, end) = (Int(seed % 3), random.below(Self.stepCount))
    let tempo = [2, 10, 30][random.below(3)]
    for step in 0..<Self.stepCount {
      if step == end {
        did(killed, "the service is killed")
        editors[killed].session.killService()
      }
      try act(random.below(3), with: &random)
      Polling.randomRest(milliseconds: random.below(tempo))
    }
    for editor in editors {
      try editor.settle()
      try editor.type(vim: "only", emacs: "(delete-other-windows)")
    }
    let text = try EqualBuffers.wait(for: editors)
    texts.append((seed, id, text))
    let audits = try editors.map { try $0.session.audits() }
    for (name, audit) in zip(names, audits) {
      let complaints = audit.flatMap(\.complaints)
      guard complaints.isEmpty else {
        throw ProcessError.ended(waitingFor: "\(name)'s traffic", details: "\(complaints)")
      }
    }
    print(
      "three editors, seed \(seed): \(text.utf8.count) bytes at the end; so far \(audits.map(\.count)) services,"
        + " \(audits.map { $0.map(\.editCount).reduce(0, +) }) edits came,"
        + " \(audits.map { $0.map(\.droppedCount).reduce(0, +) }) were dropped as too late,"
        + " \(audits.map { $0.map(\.fullTextCount).reduce(0, +) }) full texts")
  }

  /// Ends the editors, and checks the texts in their stores.
  func end() throws {
    for editor in editors { try editor.quit() }
    for editor in editors { try editor.session.waitForEnd() }
    for (number, (seed, id, text)) in texts.enumerated() {
      let stored = try editors[number % 3].session.user.storedText(of: id)
      if stored != text { keepTraffic(of: seed) }
      #expect(stored == text, "seed \(seed): \(names[number % 3])'s document differs from the buffers")
    }
  }

  private func did(_ number: Int, _ event: String) { events.append("\(names[number]): \(event)") }

  /// Makes a note that all three have on their screens. A ticket is for one person and one note.
  private func shareNote(_ title: String, by host: Int) throws -> String {
    let earlier = texts.map(\.id)
    try editors[host].createNote(title)
    let id = try waitForNote(in: editors[host]) { !earlier.contains($0) }
    for (number, editor) in editors.enumerated() where number != host {
      // The register and the kill ring have the last ticket until the new one arrives.
      try editors[host].give(vim: "let @\" = ''", emacs: #"(kill-new "")"#)
      try editors[host].share()
      try editor.join(editors[host].waitForTicket())
      _ = try waitForNote(in: editor) { $0 == id }
    }
    return id
  }

  private func waitForNote(in editor: any EditorUnderTest, _ isRight: (String) -> Bool) throws -> String {
    var found = ""
    try editor.session.wait(for: "the new note") {
      guard let id = try editor.documentId(), isRight(id), let state = try editor.state() else { return false }
      found = id
      return state.isSynced
    }
    return found
  }

  /// What one person does next.
  private func act(_ number: Int, with random: inout SplitMix64) throws {
    let editor = editors[number], choice = random.below(100), detail = random.below(1 << 30)
    guard choice < 24 else {
      did(number, "random command \(detail)")
      return try editor.performRandomCommand(detail)
    }
    try editor.settle()
    switch choice {
    case 0..<6:
      did(number, "undo")
      try editor.undo()
    case 6..<10:
      did(number, "redo")
      try editor.redo()
    case 10..<14:
      let other = names[(number + 1 + detail % 2) % 3]
      did(number, "follows \(other)")
      try editor.type(vim: "NotesFollow \(other)", emacs: "(notes-follow \"\(other)\")")
    case 14..<18:
      did(number, "reads the file again")
      try editor.type(vim: "edit!", emacs: "(revert-buffer t t t)")
    default:
      let (vim, lisp) = [
        ("split", "(split-window-below)"), ("vsplit", "(split-window-right)"), ("only", "(delete-other-windows)"),
      ][
        detail % 3]
      did(number, vim)
      try editor.type(vim: vim, emacs: lisp)
    }
  }
}

import AutomergeRepo
import Foundation
import NotesHarness

/// What must hold once all faults have ended.
extension Simulation {
  func settle() async throws {
    await endFaults()
    partitions = []
    while !orphans.isEmpty { restart() }
    for person in people where buffers(of: person).isEmpty || person.hasLeftovers {
      let service = person.hasLeftovers ? person.start(random: &random) : person.services.first
      openBuffer(service ?? person.start(random: &random), of: person)
    }
    for buffer in people.flatMap(buffers) { buffer.flush() }
    do {
      try await wait(for: "equal texts", within: Self.settlingTime) {
        guard textsAreEqual, documentsAreEqual else { return false }
        // A buffer that was closed while its note was still being opened changes the text later.
        let text = people.flatMap(buffers)[0].text.string
        return missingWords(text).isEmpty && deletedWords(in: text).isEmpty
      }
    } catch {
      throw failure(describeTexts())
    }
    _ = try checkedText()
    do {
      try await wait(for: "the status of all", within: Self.settlingTime) { doubts.isEmpty }
    } catch {
      throw failure("these editors have a wrong status: " + doubts.joined(separator: "; "))
    }
    await pass(Self.lookingTime)
    try await wait(for: "equal texts again", within: Self.settlingTime) {
      textsAreEqual && documentsAreEqual && doubts.isEmpty
    }
    try await closeAll(checkedText())
  }

  /// The time in which a service merges what another program has written. After an undo such words are uncertain, and nothing
  /// else waits for them.
  private static let lookingTime: Duration = .seconds(3)

  /// Whether no service has anything to send to its editor, and no service has news of a note that its editor has
  /// closed.
  private var documentsAreEqual: Bool {
    let text = people.flatMap(buffers)[0].text.string
    return people.flatMap(\.services).allSatisfy { service in
      let document = service.documentText(id)
      return document == text || service.buffer == nil && document.isEmpty
    }
  }

  private var textsAreEqual: Bool {
    let all = people.flatMap(buffers)
    return all.allSatisfy { $0.isSynced && $0.text == all[0].text }
  }

  /// The editors whose last status did not report that everything is stored and that all people have it.
  private var doubts: [String] {
    people.flatMap { person in
      person.services.compactMap { service -> String? in
        guard service.buffer != nil else { return nil }
        let peers = service.status?["peers"]?.arrayValue ?? []
        let names = Set(peers.filter { $0["inSync"]?.boolValue == true }.compactMap { $0["peer"]?.stringValue })
        let others = service.sharing.hasNetwork ? Set(people.map(\.name)).subtracting([person.name]) : []
        let isRight = service.status?["stored"]?.boolValue == true && peers.count == others.count && names == others
        return isRight ? nil : "\(service.name): \(service.status ?? .null)"
      }
    }
  }

  /// Closes the note in all editors; then the working files must get its text.
  private func closeAll(_ text: [UInt8]) async throws {
    for service in people.flatMap(\.services) { service.closeBuffer() }
    for person in people {
      do {
        try await wait(for: "the file", within: Self.settlingTime) { person.disk[path] == text }
      } catch {
        let file = String(decoding: person.disk[path] ?? [], as: UTF8.self)
        note("the editors showed \(String(decoding: text, as: UTF8.self).debugDescription)")
        throw failure("the file of \(person.name) differs from what the editors showed: \(difference(file))")
      }
    }
  }

  /// The deleted words that the text has and must not have.
  private func deletedWords(in text: String) -> Set<String> {
    let here = deleted.subtracting(injector.doubled).intersection(text.split(separator: "\n").map(String.init))
    return here.filter { !isKeptWithout($0) }
  }

  /// Whether the person who deleted a word closed a buffer without it before the buffer was merged, and has that buffer's text as
  /// a copy: the deletion is there, as words would be.
  private func isKeptWithout(_ word: String) -> Bool {
    people.contains { person in
      person.name == injector.deleters[word]
        && person.closedTexts.contains { !$0.contains(word) && person.disk.hasRecovered(text: $0) }
    }
  }

  /// The words that are neither in the text nor in a recovered text.
  private func missingWords(_ text: String) -> [String] {
    words.subtracting(text.split(separator: "\n").map(String.init)).filter { word in
      !people.contains { $0.disk.hasRecovered(word) }
    }
  }

  /// The text that all buffers show, after checking that it has every word once.
  private func checkedText() throws -> [UInt8] {
    let buffers = people.flatMap(buffers)
    for buffer in buffers where !buffer.complaints.isEmpty { throw failure("complaints: \(buffer.complaints)") }
    let problems = difference(buffers[0].text.string)
    guard problems.isEmpty else { throw failure(problems) }
    for service in people.flatMap(\.services) where service.buffer != nil {
      guard service.documentText(id) == buffers[0].text.string else {
        throw failure("the screen of \(service.name) shows another text than its document has")
      }
    }
    if let secrets = injector.stranger?.secrets(words), !secrets.isEmpty {
      throw failure("a stranger was told: \(secrets)")
    }
    return buffers[0].text.bytes
  }

  /// What is wrong with the words of a text; empty if nothing is.
  private func difference(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    let counts = Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +)
    let problems = [
      ("lost", Set(missingWords(text))),
      ("twice", Set(counts.filter { $0.value > 1 }.keys).subtracting(injector.doubled)),
      ("deleted and here", deletedWords(in: text)),
      ("not words", Set(counts.keys).subtracting(words).subtracting(deleted).subtracting(injector.uncertain)),
    ]
    return problems.filter { !$0.1.isEmpty }.map { problem, words in
      "\(problem): " + words.sorted().map { "\($0) of \(authors[$0] ?? "no one")" }.joined(separator: ", ")
    }.joined(separator: "; ")
  }

  private func describeTexts() -> String {
    let texts = people.flatMap { person in
      buffers(of: person).map { buffer in
        "\(person.name) (\(buffer.isSynced ? "synced" : "not synced"), version \(buffer.version), rev \(buffer.rev)): "
          + "\(difference(buffer.text.string)) \(buffer.complaints)"
      }
    }
    let problem =
      !textsAreEqual
      ? "texts did not become equal"
      : documentsAreEqual
        ? "the texts are equal, and have other words than they should"
        : "a screen shows another text than its document has"
    return "\(problem): \n" + texts.joined(separator: "\n")
  }
}

import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport

/// What can happen in one step.
extension Simulation {
  public enum Step: String, CaseIterable, Sendable {
    case type, delete, save, writeOutside, crash, restart, startAnother, toggleBuffer, togglePartition

    /// How often it happens, in percent.
    var weight: Int {
      switch self {
      case .type: 60
      case .restart, .save: 8
      case .delete, .writeOutside: 6
      case .crash, .togglePartition: 4
      case .startAnother, .toggleBuffer: 2
      }
    }
  }

  func act() {
    let person = people[below(people.count)]
    var left = below(100)
    for step in Step.allCases {
      left -= step.weight
      guard left < 0 else { continue }
      return without.contains(step) || person.clock.wakesAt != nil ? () : perform(step, by: person)
    }
  }

  private func perform(_ step: Step, by person: SimulatedPerson) {
    switch step {
    case .type: type(person)
    case .delete: delete(person)
    case .save: save(person)
    case .writeOutside: writeOutside(person)
    case .crash: crash(person)
    case .restart: restart()
    case .startAnother: startAnother(person)
    case .toggleBuffer: toggleBuffer(person)
    case .togglePartition: togglePartition()
    }
  }

  /// The buffers that a person's editors show, even if their services have ended.
  func buffers(of person: SimulatedPerson) -> [ModelBuffer] {
    person.services.compactMap(\.buffer) + orphans.filter { $0.person === person }.map(\.buffer)
  }

  private func someBuffer(of person: SimulatedPerson) -> ModelBuffer? {
    let all = buffers(of: person)
    return all.isEmpty ? nil : all[below(all.count)]
  }

  /// The offsets at which lines begin.
  static func lineStarts(_ bytes: [UInt8]) -> [Int] {
    [0] + bytes.indices.filter { bytes[$0] == 0x0A }.map { $0 + 1 }
  }

  private func type(_ person: SimulatedPerson) {
    guard let buffer = someBuffer(of: person) else { return }
    let starts = Self.lineStarts(buffer.text.bytes)
    let place = starts[below(starts.count)]
    let word = newWord(of: person.name)
    note("\(person.name) types \(word) at \(place) of \(buffer.text.string.debugDescription)")
    buffer.edit(place..<place, with: word + "\n")
    if below(4) > 0 { buffer.flush(asFullText: below(8) == 0) }
  }

  /// Deletes a line that the person sees.
  private func delete(_ person: SimulatedPerson) {
    guard let buffer = someBuffer(of: person) else { return }
    let starts = Self.lineStarts(buffer.text.bytes)
    let index = below(starts.count - 1)
    guard starts.count > index + 1 else { return }
    delete(starts[index]..<starts[index + 1], of: buffer, by: person)
  }

  func delete(_ range: Range<Int>, of buffer: ModelBuffer, by person: SimulatedPerson) {
    let word = String(decoding: buffer.text.bytes[range].dropLast(), as: UTF8.self)
    guard words.remove(word) != nil else { return }
    if orphans.contains(where: { $0.buffer === buffer && $0.service.savedUnheard.contains(word) }) {
      // The next service finds it in the file, like a word of another program, and not in the buffer.
      injector.excuse([word])
    } else {
      deleted.insert(word)
    }
    (injector.deleters[word], injector.deletionBuffers[word]) = (person.name, buffer)
    note("\(person.name) deletes \(word) of \(buffer.text.string.debugDescription)")
    buffer.edit(range, with: "")
    buffer.flush()
    report.deletions += 1
  }

  private func save(_ person: SimulatedPerson) {
    let open = person.services.filter { $0.buffer != nil }
    guard !open.isEmpty else { return }
    save(open[below(open.count)], of: person)
  }

  /// An editor saves its text to the file, unless another program wrote words there that the note may lack: then the
  /// person does not save.
  func save(_ service: SimulatedService, of person: SimulatedPerson) {
    guard let buffer = service.buffer, let file = person.disk[path] else { return }
    let found = ModelText(String(decoding: file, as: UTF8.self), encoding: .utf8)
    guard found.sha256 == service.knownDigest || found.bytes == buffer.text.bytes else { return }
    buffer.flush()
    person.disk.write(path, buffer.text.bytes, by: "the editor of \(service.name)")
    service.notify("textDocument/didSave", ["textDocument": ["uri": .string(buffer.uri)]])
    report.saves += 1
  }

  /// Another program adds a line to the file.
  func writeOutside(_ person: SimulatedPerson) {
    guard var bytes = person.disk[path] else { return }
    let starts = Self.lineStarts(bytes)
    let word = newWord(of: "file")
    injector.machines[word] = person.name
    bytes.insert(contentsOf: Array((word + "\n").utf8), at: starts[below(starts.count)])
    person.disk.write(path, bytes, by: "another program")
    report.outsideWrites += 1
  }

  func crash(_ person: SimulatedPerson) {
    guard !person.services.isEmpty else { return }
    let service = person.services[below(person.services.count)]
    guard !service.journalIsBroken else { return }
    if let buffer = service.buffer { orphans.append((person, buffer, service)) }
    excuseUnread(of: service, person)
    person.crash(service)
    note("\(service.name) is killed")
    report.crashes += 1
  }

  /// Edits in a buffer that the person closed without saving are lost if the service is killed before it has read them.
  private func excuseUnread(of service: SimulatedService, _ person: SimulatedPerson) {
    guard let text = service.textClosedUnread else { return }
    let closed = Set(text.split(separator: "\n").map(String.init))
    let known = Set(service.documentText(id).split(separator: "\n").map(String.init))
    let gone = words.filter { authors[$0] == person.name && closed.contains($0) && !known.contains($0) }
    let back = deleted.filter { injector.deleters[$0] == person.name && !closed.contains($0) && known.contains($0) }
    injector.excuse(gone.union(back))
    words.subtract(gone)
    deleted.subtract(back)
  }

  /// An editor whose service is dead starts another service.
  func restart() {
    guard !orphans.isEmpty else { return }
    let index = below(orphans.count)
    guard injector.kinds.isEmpty || !orphans[index].service.editorIsBehind else { return }
    let (person, buffer, dead) = orphans.remove(at: index)
    dead.forgetBuffer()
    let service = person.start(random: &random)
    note("\(service.name) replaces \(dead.name)")
    service.show(buffer, reattach: true)
  }

  private func startAnother(_ person: SimulatedPerson) {
    guard buffers(of: person).count < 2, person.services.count < 2 else { return }
    let service = person.start(random: &random)
    note("\(service.name) starts")
    openBuffer(service, of: person)
  }

  /// An editor closes the note, or opens it again.
  private func toggleBuffer(_ person: SimulatedPerson) {
    guard !person.services.isEmpty else { return }
    let service = person.services[below(person.services.count)]
    guard injector.kinds.isEmpty || !service.editorIsBehind else { return }
    note("\(service.name) \(service.buffer == nil ? "opens" : "closes")")
    guard let buffer = service.buffer else { return openBuffer(service, of: person) }
    service.closeBuffer()
    person.closedTexts.append(buffer.text.string)
  }

  private func togglePartition() {
    let (one, other) = (people[below(people.count)].name, people[below(people.count)].name)
    guard one != other else { return }
    if partitions.remove([one, other]) == nil {
      note("\(one) and \(other) are parted")
      partitions.insert([one, other])
      network.disconnect(PeerId(one), PeerId(other))
      report.partitions += 1
    }
  }
}

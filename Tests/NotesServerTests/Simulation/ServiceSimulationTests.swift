import AutomergeRepo
import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer
@testable import ServiceSimulation

/// Whole services in one process. `make simulate` runs more seeds, and `make simulate SEED=7` repeats one of them.
@AutomergeRepo @Suite(.serialized) struct ServiceSimulationTests {}

extension ServiceSimulationTests {
  /// Beside other tests, threads take part: the order in which work off the loop returns may differ from run to run.
  @Test(arguments: 1...UInt64(SeedCount.of(3))) func everyWordStandsOnceInTheEnd(seed: UInt64) async throws {
    let simulation = Simulation(seed: seed)
    do {
      try await simulation.run(steps: 300)
    } catch {
      Issue.record("try it with make simulate SEED=\(seed): \(error)\n\(simulation.history.joined(separator: "\n"))")
    }
    print("seed \(seed): \(simulation.report)")
  }

  /// The first service merges the words a moment after the write; the second finds them in its editor's buffer. If the
  /// two are not connected yet, each learns only from the store what the other has merged.
  @Test(arguments: [true, false]) func wordsOfAnotherProgramStandOnceIfASecondEditorOpensTheFileAtOnce(
    areLinked: Bool
  ) async throws {
    let simulation = Simulation(seed: 1)
    try await simulation.begin()
    let person = simulation.people[0]
    for milliseconds in stride(from: 0, to: 400, by: 40) {
      person.areLinked = areLinked
      let second = person.start(random: &simulation.random)
      try await simulation.wait(for: "the second service") {
        second.isLoaded && (!areLinked || !second.repo.siblings.isEmpty)
      }
      simulation.writeOutside(person)
      await simulation.pass(.milliseconds(milliseconds))
      simulation.openBuffer(second, of: person)
      await simulation.pass(.seconds(3))
      #expect(second.repo.siblings.isEmpty != areLinked)
      person.areLinked = true
      try await simulation.wait(for: "the two services") { !second.repo.siblings.isEmpty }
      await simulation.pass(.seconds(1))
      second.closeBuffer()
      await simulation.pass(.seconds(1))
      person.crash(second)
    }
    try await simulation.settle()
  }

  /// The store refuses what the first service knows of the file, so the second one must not read the file.
  @Test func wordsThatOneEditorSavesWhileTheStoreFailsStandOnceInTheOther() async throws {
    let (simulation, person, first, second) = try await twoServices(areLinked: false)
    (person.disk.failure, person.disk.takesJournals) = (.busy, true)
    let (one, other) = (try #require(first.buffer), try #require(second.buffer))
    // More changes that the file lacks than the service compares in a row.
    for _ in 0..<40 {
      other.edit(0..<0, with: simulation.newWord(of: person.name) + "\n")
      other.flush()
      await simulation.pass(.milliseconds(5))
    }
    let saved = (0..<4).map { _ in simulation.newWord(of: person.name) + "\n" }
    one.edit(0..<0, with: saved.joined())
    one.flush()
    person.disk.write(simulation.path, one.text.bytes, by: "the editor of \(first.name)")
    first.notify("textDocument/didSave", ["textDocument": ["uri": .string(one.uri)]])
    person.areLinked = true
    try await simulation.wait(for: "the words in the other editor") { other.text.string.contains(saved[3]) }
    // Other words between them: the note now differs from the file.
    for word in saved.dropFirst() {
      let text = other.text.string
      let place = text[..<(try #require(text.range(of: word)?.lowerBound))].utf8.count
      other.edit(place..<place, with: simulation.newWord(of: person.name) + "\n")
    }
    other.flush()
    await simulation.pass(.seconds(3))
    #expect(one.text.string.components(separatedBy: saved[1]).count == 2)
    person.disk.failure = nil
    try await simulation.settle()
  }

  /// The first service has stored that the note continues in another document, and is killed before it tells the second.
  @Test func bothEditorsGoOnInTheDocumentToWhichAKilledServiceMovedTheNote() async throws {
    let (simulation, person, first, second) = try await twoServices()
    let old = try #require(first.repo.handles.first { $0.id.description == simulation.id })
    let new = try first.service.makeSuccessor(of: old)
    let buffer = try #require(second.buffer)
    buffer.edit(0..<0, with: "before\n")
    buffer.flush()
    await simulation.pass(.seconds(1))
    // A notebook of its own, which reports to no service.
    let (mover, now) = (Notebook(storage: first.service.notebook.storage), person.clock.date)
    var isMoved = false
    Task { @AutomergeRepo in
      try await new.flush()
      try await mover.load()
      try await mover.move(old.id, to: new.id, undoing: [], at: now)
      isMoved = true
    }
    try await simulation.wait(for: "the move") { isMoved }
    person.crash(first)
    await simulation.pass(.seconds(2))
    buffer.edit(0..<0, with: "afterwards\n")
    buffer.flush()
    await simulation.pass(.seconds(2))
    #expect(second.documentText(new.id.description) == "afterwards\nbefore\nstart\n")
    #expect(buffer.text.string == "afterwards\nbefore\nstart\n" && buffer.complaints.isEmpty)
  }

  /// The first service is killed after it has stored the words, or journaled them, and before it has sent them.
  @Test(arguments: [10, 1000]) func wordsOfAKilledServiceReachTheOtherEditorThoughItWasSentNothing(
    milliseconds: Int
  ) async throws {
    let (simulation, person, first, second) = try await twoServices()
    person.siblingNetwork.isLost = { _, sender, _ in sender == first.name }
    // Nor do other people have them.
    simulation.network.isLost = { _, sender, _ in sender == PeerId(person.name) }
    let (one, other) = (try #require(first.buffer), try #require(second.buffer))
    one.edit(0..<0, with: "afterwards\n")
    one.flush()
    first.closeBuffer()
    await simulation.pass(.milliseconds(milliseconds))
    #expect(!second.documentText(simulation.id).contains("afterwards"))
    person.crash(first)
    try await simulation.wait(for: "the words") { other.text.string == "afterwards\nstart\n" && other.isSynced }
    #expect(other.complaints.isEmpty)
  }

  /// The second service has read the note before the first one's editor wrote to the file, and receives nothing from
  /// the first.
  @Test func wordsThatOneEditorSavedStandOnceIfAnotherOpensTheNoteAgain() async throws {
    let (simulation, person, first, second) = try await twoServices(areLinked: false)
    second.closeBuffer()
    await simulation.pass(.seconds(1))
    let buffer = try #require(first.buffer)
    buffer.edit(0..<0, with: simulation.newWord(of: person.name) + "\n")
    simulation.save(first, of: person)
    await simulation.pass(.seconds(2))
    simulation.openBuffer(second, of: person)
    await simulation.pass(.seconds(2))
    #expect(second.documentText(simulation.id) == first.documentText(simulation.id))
    person.areLinked = true
    try await simulation.settle()
  }

  /// The edit is on its way to the editor when that closes the buffer and opens the file again.
  @Test func anEditForABufferThatWasClosedDoesNotChangeTheNextOne() async throws {
    let (simulation, person, first, second) = try await twoServices()
    first.hang(for: .seconds(2))
    let other = try #require(second.buffer)
    other.edit(0..<0, with: simulation.newWord(of: person.name) + "\n")
    other.flush()
    await simulation.pass(.milliseconds(500))
    #expect(first.documentText(simulation.id) == other.text.string && first.editorIsBehind)
    first.closeBuffer()
    simulation.openBuffer(first, of: person)
    try await simulation.settle()
  }

  /// The second service finds what the first one's editor can undo in the store.
  @Test(arguments: [false, true]) func aDeletionThatIsUndoneInTwoEditorsBringsTheWordBackOnce(
    isFirstKilled: Bool
  ) async throws {
    let simulation = Simulation(seed: 1)
    try await simulation.begin()
    let person = simulation.people[0]
    try await deleteTheWord(in: person.services[0], simulation)
    if isFirstKilled {
      person.crash(person.services[0])
      try await openNote(of: person, simulation)
    }
    try await openNote(of: person, simulation)
    #expect(person.services.count == 2)
    for service in person.services {
      try await undo(in: service, simulation)
      #expect(service.documentText(simulation.id) == "start\ntea\n")
    }
  }

  @Test func whatWasDeletedInAnEditorThatHasClosedTheNoteCanBeUndoneInAnother() async throws {
    let simulation = Simulation(seed: 1)
    try await simulation.begin()
    let person = simulation.people[0]
    try await deleteTheWord(in: person.services[0], simulation)
    person.services[0].closeBuffer()
    await simulation.pass(.seconds(1))
    try await openNote(of: person, simulation)
    try await undo(in: person.services[1], simulation)
    #expect(person.services[1].documentText(simulation.id) == "start\ntea\n")
  }

  /// The first service goes on to merge the file, and so changes the note after it stored what its editor can undo.
  @Test func whatAProgramWroteAfterAnEditorClosedTheNoteIsNotUndoneWithItsTyping() async throws {
    let simulation = Simulation(seed: 1)
    try await simulation.begin()
    let person = simulation.people[0]
    try await deleteTheWord(in: person.services[0], simulation)
    person.services[0].closeBuffer()
    await simulation.pass(.seconds(1))
    person.disk.write(simulation.path, Array("tea\nmilk\n".utf8), by: "another program")
    try await simulation.wait(for: "the milk") {
      person.services[0].documentText(simulation.id) == "tea\nmilk\n"
    }
    try await openNote(of: person, simulation)
    try await undo(in: person.services[1], simulation)
    #expect(person.services[1].documentText(simulation.id) == "start\ntea\nmilk\n")
  }

  /// A person with two services, whose editors both have the note open.
  private func twoServices(
    areLinked: Bool = true
  ) async throws -> (Simulation, SimulatedPerson, SimulatedService, SimulatedService) {
    let simulation = Simulation(seed: 1)
    try await simulation.begin()
    let person = simulation.people[0]
    person.areLinked = areLinked
    let second = person.start(random: &simulation.random)
    try await simulation.wait(for: "the second service") {
      second.isLoaded && (!areLinked || !second.repo.siblings.isEmpty)
    }
    simulation.openBuffer(second, of: person)
    await simulation.pass(.seconds(3))
    return (simulation, person, person.services[0], second)
  }

  private func deleteTheWord(in service: SimulatedService, _ simulation: Simulation) async throws {
    let buffer = try #require(service.buffer)
    buffer.edit(6..<6, with: "tea\n")
    buffer.flush()
    await simulation.pass(.seconds(2))
    buffer.edit(0..<6, with: "")
    buffer.flush()
    await simulation.pass(.seconds(2))
    #expect(service.documentText(simulation.id) == "tea\n")
  }

  /// Another editor of this person opens the note.
  private func openNote(of person: SimulatedPerson, _ simulation: Simulation) async throws {
    let service = person.start(random: &simulation.random)
    try await simulation.wait(for: "the service") { service.isLoaded }
    simulation.openBuffer(service, of: person)
    await simulation.pass(.seconds(3))
  }

  private func undo(in service: SimulatedService, _ simulation: Simulation) async throws {
    let buffer = try #require(service.buffer)
    _ = try await simulation.request(
      "notes/undo",
      ["uri": .string(buffer.uri), "version": JSONValue(buffer.version), "rev": JSONValue(buffer.rev)], of: service)
    await simulation.pass(.seconds(1))
  }

  /// Nothing tells the word from one that another program has written to the file.
  @Test func aWordMayReturnThatItsEditorSavedAndDeletedWhileNoServiceHeardOfIt() async throws {
    let simulation = Simulation(seed: 1)
    try await simulation.begin()
    await simulation.pass(.seconds(1))
    let person = simulation.people[0], service = person.services[0]
    let buffer = try #require(service.buffer)
    let word = simulation.newWord(of: person.name)
    buffer.edit(0..<0, with: word + "\n")
    buffer.flush()
    person.disk.write(simulation.path, buffer.text.bytes, by: "the editor")
    service.notify("textDocument/didSave", ["textDocument": ["uri": .string(buffer.uri)]])
    simulation.crash(person)
    simulation.delete(0..<word.utf8.count + 1, of: buffer, by: person)
    #expect(simulation.deleted.isEmpty && simulation.injector.uncertain == [word])
    try await simulation.settle()
  }

  /// The word is in the file, where the next service finds it before it meets the peer that typed it.
  @Test func aWordOfAPeerMayStandTwiceIfAPowerFailureLeavesItInTheFileAlone() async throws {
    let simulation = Simulation(seed: 1, faults: [.powerLoss])
    try await simulation.begin()
    await simulation.pass(.seconds(1))
    let (ana, ben) = (simulation.people[0], simulation.people[1])
    let (typing, saving) = (ana.services[0], ben.services[0])
    let (one, other) = (try #require(typing.buffer), try #require(saving.buffer))
    let word = simulation.newWord(of: ana.name)
    one.edit(0..<0, with: word + "\n")
    one.flush()
    while !other.text.string.contains(word) { await simulation.pass(.milliseconds(1)) }
    for person in simulation.people { simulation.partitions.insert([person.name, ben.name]) }
    simulation.network.disconnectAll(of: PeerId(ben.name))
    ben.disk.write(simulation.path, other.text.bytes, by: "the editor of \(saving.name)")
    // Nothing of the journal was synced.
    ben.disk.journals[saving.run]?.segments = [1: []]
    #expect(simulation.loseFlow(of: ben))
    #expect(simulation.injector.doubled == [word])
    simulation.openBuffer(ben.start(random: &simulation.random), of: ben)
    await simulation.pass(.seconds(3))
    try await simulation.settle()
  }

  /// A service that never had the word says that everything is stored.
  @Test func aDeletionIsStoredOnceTheServiceOfItsBufferSaysSo() async throws {
    let simulation = Simulation(seed: 1, faults: [.powerLoss])
    try await simulation.begin()
    let injector = simulation.injector
    let (buffer, other) = (simulation.people[0].services[0].buffer, simulation.people[1].services[0].buffer)
    (injector.deleters["word"], injector.deletionBuffers["word"]) = ("ana", buffer)
    injector.isStored("start", in: other, for: "ana", authors: [:], deleted: ["word"])
    #expect(!injector.mustSurvive("word", isDeleted: true))
    injector.isStored("start", in: buffer, for: "ana", authors: [:], deleted: ["word"])
    #expect(injector.mustSurvive("word", isDeleted: true))
  }
}

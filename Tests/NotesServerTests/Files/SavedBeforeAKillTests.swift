import Automerge
import Foundation
import TestSupport
import Testing

@testable import NotesServer

/// A working file that contains an earlier text of the note, although no editor reported saving it then.
struct SavedBeforeAKillTests {
  private static let time = Date(timeIntervalSince1970: 0)

  private static func word(_ actor: Int, _ number: Int) -> String { "\(actor == 0 ? "j" : "k")\(1000 + number)\n" }

  /// Two people type words on lines of their own, each after the other's changes or at the same time.
  private func note(_ random: inout SeededGenerator, _ count: Int) throws -> [NoteDocument] {
    var notes: [NoteDocument] = []
    let first = Document()
    notes.append(try NoteDocument(new: first, title: "Shopping", text: [0x0A], created: Self.time))
    first.commitWith(message: nil, timestamp: Self.time)
    let second = first.fork()
    notes.append(try #require(NoteDocument(second)))
    for number in 0..<count {
      let index = Int.random(in: 0..<2, using: &random)
      let text = Array(DocumentText(notes[index]).allUTF8)
      let starts = [0] + text.indices.filter { text[$0] == 0x0A }.map { $0 + 1 }
      let place = starts.randomElement(using: &random) ?? 0
      try notes[index].document.spliceText(
        obj: notes[index].content, utf8Offset: place, deleteUTF8: 0, insert: Array(Self.word(index, number).utf8))
      notes[index].document.commitWith(message: nil, timestamp: Self.time)
      if Bool.random(using: &random) { try notes[0].document.merge(other: notes[1].document) }
      if Bool.random(using: &random) { try notes[1].document.merge(other: notes[0].document) }
    }
    return notes
  }

  @Test(arguments: SeedCount.part(of: 1...40)) func nothingOfItIsTakenInAgain(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let notes = try note(&random, 24)
    let history = notes[0].document.getHistory()
    let base = TextBase(heads: Set(history.prefix(2)), steps: [], object: notes[0].textObject)
    for length in stride(from: 3, to: history.count, by: 3) {
      let saved = try notes[0].document.textAt(obj: notes[0].content, heads: Set(history.prefix(length)))
      let merge = ThreeWayMerge(note: notes[0], bases: [base], encoding: .utf8, gate: .plain)
      #expect(merge.takeIn(file: Array(saved.utf8)).splices == [], "seed \(seed), \(length) changes")
    }
  }

  /// An editor has not saved what its person typed. The service has merged a line of another program without recording
  /// it; then the program writes one more.
  @Test func whatWasTakenInBesideUnsavedWordsStandsOnce() throws {
    let note = try NoteDocument(new: Document(), title: "Shopping", text: Array("start\n".utf8), created: Self.time)
    note.document.commitWith(message: nil, timestamp: Self.time)
    func type(_ line: String, at offset: Int) throws {
      try note.document.spliceText(obj: note.content, utf8Offset: offset, deleteUTF8: 0, insert: Array(line.utf8))
      note.document.commitWith(message: nil, timestamp: Self.time)
    }
    try type("mine\n", at: 6)
    let lacking = TextDelta(utf8Offset: 6, deleted: [], inserted: Array("mine\n".utf8))
    let base = TextBase(heads: note.document.heads(), steps: [lacking], object: note.textObject)
    try type("tea\n", at: 0)
    for number in 0..<8 { try type("more \(number)\n", at: 10) }
    let merge = ThreeWayMerge(note: note, bases: [base], encoding: .utf8, gate: .plain)
    let splices = merge.takeIn(file: Array("bread\ntea\nstart\n".utf8)).splices
    #expect(splices.map { String(decoding: $0.insert, as: UTF8.self) } == ["bread\n"])
    #expect(splices.allSatisfy { $0.deleteUTF8 == 0 })
  }

  /// An editor saved a line, and its service was killed at once. Another process has merged the file, and another program's line in
  /// it; then the buffer is opened again, of which the service had stored the text before.
  @Test func aLineThatTheNoteHasFromTheFileIsNotTakenFromTheBufferAgain() throws {
    let note = try NoteDocument(
      new: Document(textEncoding: .utf8), title: "Shopping", text: Array("tea\neggs\n".utf8), created: Self.time)
    note.document.commitWith(message: nil, timestamp: Self.time)
    let base = TextBase(heads: note.document.heads(), steps: [], object: note.textObject)
    try note.document.spliceText(
      obj: note.content, utf8Offset: 4, deleteUTF8: 0, insert: Array("bread\nmilk\njam\n".utf8))
    note.document.commitWith(message: nil, timestamp: Self.time)
    func opened(_ text: String) throws -> (document: String, buffer: String) {
      let merge = ThreeWayMerge(note: note, bases: [base], isExact: true, encoding: .utf8, gate: .notes)
      let (buffer, splices) = merge.open(version: 1, text: Array(text.utf8))
      let fork = try #require(NoteDocument(note.document.fork()))
      try fork.make(splices)
      let shown = buffer.clientToDocument.applied(to: Array(text.utf8))
      return (String(decoding: DocumentText(fork).allUTF8, as: UTF8.self), String(decoding: shown, as: UTF8.self))
    }
    let same = try opened("tea\nmilk\neggs\n")
    #expect(same.document == "tea\nbread\nmilk\njam\neggs\n" && same.buffer == same.document)
    let more = try opened("tea\nmilk\nham\neggs\n")
    #expect(more.document.split(separator: "\n").sorted() == ["bread", "eggs", "ham", "jam", "milk", "tea"])
    #expect(more.buffer == more.document)
    let elsewhere = try opened("milk\ntea\neggs\n")
    #expect(elsewhere.document == "milk\ntea\nbread\nmilk\njam\neggs\n" && elsewhere.buffer == elsewhere.document)
  }

  @Test func whatAnotherProgramAddedToItIsTakenIn() throws {
    var random = SeededGenerator(seed: 99)
    let notes = try note(&random, 24)
    let history = notes[0].document.getHistory()
    let base = TextBase(heads: Set(history.prefix(2)), steps: [], object: notes[0].textObject)
    let saved = try notes[0].document.textAt(obj: notes[0].content, heads: Set(history.prefix(12)))
    let merge = ThreeWayMerge(note: notes[0], bases: [base], encoding: .utf8, gate: .plain)
    let splices = merge.takeIn(file: Array((saved + "tea\n").utf8)).splices
    #expect(splices.map { String(decoding: $0.insert, as: UTF8.self) } == ["tea\n"])
  }

  @Test func aWordThatBeginsAsOneOfTheNotesDoesTakesNothingOfThat() throws {
    let note = try NoteDocument(new: Document(), title: "Shopping", text: [0x0A], created: Self.time)
    note.document.commitWith(message: nil, timestamp: Self.time)
    let base = TextBase(heads: note.document.heads(), steps: [], object: note.textObject)
    for (offset, letters) in ["j10", "09j", "\n"].enumerated() {
      try note.document.spliceText(
        obj: note.content, utf8Offset: 3 * offset, deleteUTF8: 0, insert: Array(letters.utf8))
      note.document.commitWith(message: nil, timestamp: Self.time)
    }
    let merge = ThreeWayMerge(note: note, bases: [base], encoding: .utf8, gate: .plain)
    let splices = merge.takeIn(file: Array("j1012j\n\n".utf8)).splices
    #expect(splices.map { String(decoding: $0.insert, as: UTF8.self) } == ["j1012j\n"])
    #expect(splices.allSatisfy { $0.deleteUTF8 == 0 })
  }

  /// When the file was written, its last line had no line feed; now it has one.
  @Test func aLineThatWasTypedOnIsNotTornByTheFile() throws {
    let note = try NoteDocument(new: Document(), title: "Shopping", text: Array("tea\nk10".utf8), created: Self.time)
    note.document.commitWith(message: nil, timestamp: Self.time)
    let base = TextBase(heads: note.document.heads(), steps: [], object: note.textObject)
    try note.document.spliceText(obj: note.content, utf8Offset: 7, deleteUTF8: 0, insert: Array("11k\n".utf8))
    note.document.commitWith(message: nil, timestamp: Self.time)
    let merge = ThreeWayMerge(note: note, bases: [base], encoding: .utf8, gate: .plain)
    #expect(try merge.takeIn(FileContents(reading: Array("tea\nk10".utf8))).splices == [])
    let more = try merge.takeIn(FileContents(reading: Array("milk\ntea\nk10".utf8))).splices
    #expect(more.map { String(decoding: $0.insert, as: UTF8.self) } == ["milk\n"])
  }
}

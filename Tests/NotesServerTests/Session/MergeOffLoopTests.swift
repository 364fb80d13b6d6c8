import Automerge
import Foundation
import Testing

@testable import NotesServer

/// A large file is merged into its note on another thread, while the note may change.
struct MergeOffLoopTests {
  private static let time = Date(timeIntervalSince1970: 0)
  /// Longer than the pieces that are read at once, whose ends split letters.
  private static let text = (0..<20_000).map { "ein längerer Satz über die Zahl \($0)\n" }.joined()

  private let note: NoteDocument
  private let base: TextBase

  init() throws {
    note = try NoteDocument(new: Document(), title: "Satz", text: Array(Self.text.utf8), created: Self.time)
    note.document.commitWith(message: nil, timestamp: Self.time)
    base = TextBase(heads: note.document.heads(), steps: [], object: note.textObject)
  }

  private func type(_ word: String, at offset: Int = 0, in note: NoteDocument) throws {
    try note.document.spliceText(obj: note.content, utf8Offset: offset, deleteUTF8: 0, insert: Array(word.utf8))
    note.document.commitWith(message: nil, timestamp: Self.time)
  }

  @Test func itComesToTheSameAsOnTheLoop() async throws {
    try type("getippt\n", in: note)
    let contents = try FileContents(reading: Array((Self.text + "vom anderen Programm\n").utf8))
    let (note, base) = (note, base)
    let found = await ThreeWayMerge.takeInOffLoop(contents, note) { read in
      #expect(read.text == DocumentText(note).allUTF8)
      return ThreeWayMerge(note: note, bases: [base], encoding: .utf8, gate: .plain, read: read)
    }
    #expect(found == ThreeWayMerge(note: note, bases: [base], encoding: .utf8, gate: .plain).takeIn(contents))
    #expect(found?.splices.map { String(decoding: $0.insert, as: UTF8.self) } == ["vom anderen Programm\n"])
  }

  @Test func nothingComesOfItIfTheNoteChangesMeanwhile() async throws {
    let contents = try FileContents(reading: Array(Self.text.utf8))
    let (note, base) = (note, base)
    let found = await ThreeWayMerge.takeInOffLoop(contents, note) { read in
      #expect(throws: Never.self) { try type("getippt\n", in: note) }
      return ThreeWayMerge(note: note, bases: [base], encoding: .utf8, gate: .plain, read: read)
    }
    #expect(found == nil)
  }

  /// The edits that lead to the note's present text do not fit the text that was read: they would delete more than it
  /// has.
  @Test func norIfANoteThatWasEmptyGrows() async throws {
    let note = try NoteDocument(new: Document(), title: "Leer", text: [], created: Self.time)
    note.document.commitWith(message: nil, timestamp: Self.time)
    let base = TextBase(heads: note.document.heads(), steps: [], object: note.textObject)
    try type("getippt\n", in: note)
    let contents = try FileContents(reading: Array("anderes\n".utf8))
    let found = await ThreeWayMerge.takeInOffLoop(contents, note) { read in
      #expect(throws: Never.self) { try type("mehr ", in: note) }
      return ThreeWayMerge(note: note, bases: [base], encoding: .utf8, gate: .plain, read: read)
    }
    #expect(found == nil)
  }
}

import Automerge
import AutomergeRepo
import Foundation
import Testing

@testable import NotesServer

/// The earlier texts of the working file that a note's record remembers.
struct EarlierBasesTests {
  private func base(inserting byteCount: Int) -> TextBase {
    TextBase(
      heads: [], steps: [TextDelta(utf8Offset: 0, deleted: [], inserted: [UInt8](repeating: 0x61, count: byteCount))])
  }

  @Test func aTextThatWasRewrittenWholeIsNotKeptBesideTheNote() throws {
    let id = try #require(DocumentId(bytes: [UInt8](repeating: 7, count: 16)))
    let date = Date(timeIntervalSince1970: 0)
    var record = NoteRecord(id: id, title: "Large", created: date, modified: date)
    for round in 1...40 {
      record.fileBase = base(inserting: round)
      // Recorded before the file is rewritten; the new text then takes its place.
      record.fileBase = base(inserting: 1 << 20)
    }
    record.fileBase = base(inserting: 41)
    #expect(record.earlierFileBases.map(\.textByteCount) == Array((9...40).reversed()))
    #expect(try #require(record.baseItem).data.count < 10_000)
  }

  @Test func theOldestAreLeftOutOnceAllTogetherAreLarge() throws {
    let id = try #require(DocumentId(bytes: [UInt8](repeating: 7, count: 16)))
    let date = Date(timeIntervalSince1970: 0)
    var record = NoteRecord(id: id, title: "Some", created: date, modified: date)
    for round in 1...6 { record.fileBase = base(inserting: 100_000 + round) }
    #expect(record.earlierFileBases.map(\.textByteCount) == [100_005, 100_004])
  }

  @Test func smallChangesOfTheFileAreKept() throws {
    let id = try #require(DocumentId(bytes: [UInt8](repeating: 7, count: 16)))
    let date = Date(timeIntervalSince1970: 0)
    var record = NoteRecord(id: id, title: "Small", created: date, modified: date)
    for count in 1...3 { record.fileBase = base(inserting: count * 1000) }
    #expect(record.earlierFileBases.map(\.textByteCount) == [2000, 1000])
  }
}

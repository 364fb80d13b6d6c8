import Automerge
import AutomergeRepo
import Foundation
import Testing

@testable import NotesServer

struct UndoRecordTests {
  private let ana = ActorId()
  private let former = ActorId()

  private func group(_ actor: ActorId, _ numbers: ClosedRange<Int>, _ time: Int) -> UndoGroups.Group {
    UndoGroups.Group(changes: [], places: [UndoGroups.Place(actor: actor, numbers: numbers)], time: time)
  }

  private func record(_ undo: [UndoGroups.Group], redo: [UndoGroups.Group] = [], at time: Int) -> UndoRecord {
    UndoRecord(
      groups: UndoGroups(undoable: undo, redoable: redo), time: Date(milliseconds: time),
      written: UndoRecord.Written(actor: ana, count: 9), object: nil)
  }

  @Test func whatIsStoredIsReadAgain() throws {
    var random = RandomSource()
    let key = NoteKey(DocumentId.random(using: &random))
    let record = record([group(former, 2...5, 100), group(ana, 1...9, 200)], redo: [group(ana, 10...10, 150)], at: 7)
    let item = record.item(key, run: "aa")
    let read = try #require(UndoRecord(item.data))
    #expect(read.groups.undoable == record.groups.undoable && read.groups.redoable == record.groups.redoable)
    #expect(read.written == record.written && read.time == record.time)
    #expect(!read.isOfClosed)
    for count in 0..<item.data.count { #expect(UndoRecord(item.data.prefix(count)) == nil) }
    var closed = record
    closed.isOfClosed = true
    #expect(UndoRecord(closed.item(key, run: "aa").data)?.isOfClosed == true)
  }

  @Test func severalProcessesLeaveOneRowOfGroups() {
    let (old, shared, new) = (group(former, 1...3, 10), group(former, 4...4, 20), group(ana, 1...1, 30))
    let merged = UndoRecord.merged([
      record([shared, new], redo: [group(ana, 2...2, 40)], at: 2), record([old, shared], redo: [old], at: 1),
    ])
    #expect(merged.undoable == [old, shared, new])
    #expect(merged.redoable == [group(ana, 2...2, 40)])
  }

  @Test func whatAKilledProcessHadNotStoredBelongsToItsLastGroup() {
    var groups = UndoGroups(undoable: [group(ana, 3...9, 10)], redoable: [])
    groups.extend(UndoRecord.Written(actor: ana, count: 9), to: 12, date: 50)
    #expect(
      groups.undoable.map(\.places) == [
        [
          UndoGroups.Place(actor: ana, numbers: 3...9), UndoGroups.Place(actor: ana, numbers: 10...12),
        ]
      ])
    groups.extend(UndoRecord.Written(actor: ana, count: 20), to: 21, date: 60)
    #expect(groups.undoable.count == 2)
    groups.extend(UndoRecord.Written(actor: ana, count: 30), to: 30, date: 70)
    #expect(groups.undoable.count == 2)
  }
}

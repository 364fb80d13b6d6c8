import Foundation
import TestSupport
import Testing

@testable import Automerge

/// A few bytes can claim very many operations, each of which takes half a kilobyte of memory.
struct DenseOpsTests {
  private func forged(changes count: UInt8, puts: Int = 60_000) -> [[UInt8]] {
    (0..<count).map { ForgedChunk.change(puts: puts, key: "k", actor: $0) }
  }

  @Test func aMessageOfManyMoreOperationsThanBytesIsNotLight() {
    #expect(IncomingWeight.isLight(ForgedChunk.message(of: [ForgedChunk.change(puts: 100, key: "k")])))
    #expect(!IncomingWeight.isLight(ForgedChunk.message(of: [ForgedChunk.change(puts: 200, key: "k")])))
    let long = String(repeating: "k", count: 500)
    #expect(IncomingWeight.isLight(ForgedChunk.message(of: [ForgedChunk.change(puts: 200, key: long)])))
  }

  @Test func aPeerPaysForOperationsBeyondOneForEachByte() throws {
    let chunk = ForgedChunk.change(puts: 1000, key: "k")
    let byteCount = try ChunkReader.all(chunk[...])[0].body.count
    let incoming = try IncomingMessage(ForgedChunk.message(of: [chunk]), known: [])
    #expect(incoming.nextPortion()?.changes.count == 1)
    // The keys that stand for a thousand bytes are paid for as well.
    let excess = incoming.takeExcess() - 64 * incoming.charges.denseOpCount
    #expect(incoming.charges.denseOpCount == 1000 - byteCount && (0..<1000).contains(excess))
    let honest = try IncomingMessage(
      ForgedChunk.message(of: [ForgedChunk.change(puts: 500, key: String(repeating: "k", count: 500))]), known: [])
    #expect(honest.nextPortion() != nil && honest.charges.denseOpCount == 0)
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func aForeignFileOfAFewBytesCannotHoldAnyNumberOfOperations()
    throws
  {
    let file = Data(forged(changes: 3).joined())
    #expect(file.count < 200)
    #expect(throws: LoadError.format(.tooMany(limit: 100_000, at: 0))) {
      try ForeignFile.load(file, denseOpsAtMost: 100_000)
    }
    #expect(try ForeignFile.load(file).document.getHistory().count == 3)
  }

  @Test func aForeignFileIsTheDocumentThatItWouldBeOtherwise() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "Bread")
    let saved = document.save()
    try document.spliceText(obj: text, start: 5, delete: 0, value: " and olives")
    let file = saved + document.encodeNewChanges()
    let loaded = try ForeignFile.load(file)
    #expect(loaded.document.heads() == document.heads() && loaded.leftOut == nil)
    #expect(try loaded.document.text(obj: text) == "Bread and olives")
    #expect(try ForeignFile.load(document.save()).document.heads() == document.heads())
    #expect(throws: LoadError.self) { try ForeignFile.load(Data("no document".utf8)) }
  }

  @Test func aForeignFileTellsWhatCouldNotBeRead() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    var parts = [document.save()]
    for word in ["Bread", " and", " olives"] {
      try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: word)
      parts.append(document.encodeNewChanges())
    }
    let cut = try ForeignFile.load(Data(parts.joined().dropLast(3)))
    #expect(try cut.document.text(obj: text) == "Bread and" && cut.leftOut == .damagedPart)
    let lacking = try ForeignFile.load(parts[0] + parts[1] + parts[3])
    #expect(try lacking.document.text(obj: text) == "Bread" && lacking.leftOut == .changes(1))
    var flipped = parts
    flipped[2][parts[2].count - 1] ^= 1
    let damaged = try ForeignFile.load(Data(flipped.joined()))
    #expect(try damaged.document.text(obj: text) == "Bread" && damaged.leftOut == .damagedPart)
  }

  /// Saved, such changes take so few bytes that a limit for foreign bytes would refuse them.
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func whatADocumentHasAcceptedItReadsAgain() throws {
    let document = Document()
    try document.applyEncodedChanges(encoded: Data(forged(changes: 2, puts: 35_000).joined()))
    let saved = document.save()
    #expect(saved.count < 500)
    #expect(try Document(saved).heads() == document.heads())
    let own = Document()
    #expect(own.applyChunks([saved], areOwn: true).isEmpty && own.heads() == document.heads())
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func aProgramsSeventyThousandZerosAreReadAgain() throws {
    let document = Document()
    let list = try document.putObject(obj: .ROOT, key: "pixels", ty: .List)
    for index in 0..<70_000 as Range<UInt64> { try document.insert(obj: list, index: index, value: .Int(0)) }
    let saved = document.save()
    #expect(try Document(saved).length(obj: list) == 70_000)
    let other = Document()
    try other.applyEncodedChanges(encoded: Document(saved).encodeNewChanges())
    #expect(other.heads() == document.heads())
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func aDocumentThatAFileRepeatsIsReadOnce() throws {
    let base = Document()
    try base.put(obj: .ROOT, key: "title", value: .String("Tea"))
    let dense = Document()
    try dense.applyEncodedChanges(encoded: Data(forged(changes: 1).joined()))
    let chunk = dense.save()
    let took = try ProcessorTime.inThisThread {
      let loaded = try Document(base.save() + Data(Array(repeating: chunk, count: 200).joined()))
      #expect(loaded.getHistory().count == 2)
    }
    print("a document of 60,000 operations, two hundred times: \(took.seconds) s")
    #expect(took.seconds < 30)
  }

  /// Each object counts as five operations.
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func aDocumentTakesAllOfSuchChangesOrNone() throws {
    let document = Document()
    let chunks = (0..<15).map { Data(ForgedChunk.change(puts: 60_000, key: "k", actor: $0, action: .makeMap)) }
    #expect(document.applyChunks(chunks, areOwn: false) == Array(chunks.indices))
    #expect(document.getHistory().isEmpty)
  }
}

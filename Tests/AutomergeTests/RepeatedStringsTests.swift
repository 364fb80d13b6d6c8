import Foundation
import TestSupport
import Testing

@testable import Automerge

/// A few hundred bytes may say that a long string stands in each of thousands of rows. What that costs those who hash the changes
/// is limited, and paid for, like what is inflated.
struct RepeatedStringsTests {
  private static func column<Item: RunItem>(_ value: Item, count: Int) -> [UInt8] {
    var encoder = RunLengthEncoder<Item>()
    encoder.append(value, count: count)
    return encoder.finish()
  }

  private static func delta(_ first: Int64, step: Int64 = 0, count: Int) -> [UInt8] {
    var writer = ByteWriter()
    // The first value is a difference from zero.
    writer.sleb(-1)
    writer.sleb(first)
    if count > 1 {
      writer.sleb(Int64(count - 1))
      writer.sleb(step)
    }
    return writer.bytes
  }

  /// A document of empty changes, all of which have the same message.
  private static func document(changes count: Int, message: String) -> [UInt8] {
    var columns = ColumnWriter(deflating: true)
    columns.append(ColumnSpec.Change.actor, column(UInt64(0), count: count))
    columns.append(ColumnSpec.Change.sequence, delta(1, step: 1, count: count))
    columns.append(ColumnSpec.Change.maxOp, delta(0, count: count))
    columns.append(ColumnSpec.Change.time, delta(0, count: count))
    columns.append(ColumnSpec.Change.message, column(message, count: count))
    columns.append(ColumnSpec.Change.dependencyCount, column(UInt64(0), count: count))
    var writer = ByteWriter()
    writer.uleb(1)
    writer.actor(ActorId(bytes: [0xaa]))
    writer.hashes([])
    columns.writeHeader(to: &writer)
    writer.uleb(0)
    columns.writeData(to: &writer)
    return Chunk.encode(.document, body: writer.bytes).bytes
  }

  /// The same as a bundle.
  private static func bundle(changes count: Int, message: String) -> Chunk {
    typealias Column = ColumnSpec.BundleChange
    var columns = ColumnWriter()
    columns.append(Column.actor, column(UInt64(0), count: count))
    columns.append(Column.sequence, delta(1, step: 1, count: count))
    columns.append(Column.startOp, delta(1, count: count))
    columns.append(Column.maxOp, delta(0, count: count))
    columns.append(Column.time, delta(0, count: count))
    columns.append(Column.message, column(message, count: count))
    columns.append(Column.dependencyCount, column(UInt64(0), count: count))
    var writer = ByteWriter()
    writer.hashes([])
    writer.uleb(1)
    writer.actor(ActorId(bytes: [0xaa]))
    columns.writeHeader(to: &writer)
    columns.writeData(to: &writer)
    writer.uleb(0)
    return Chunk(kind: .bundle, body: writer.bytes[...], hash: Chunk.hash(.bundle, body: writer.bytes))
  }

  /// A change that puts null at one key again and again.
  private static func change(puts count: Int, key: String) -> [UInt8] {
    var columns = ColumnWriter()
    columns.append(ColumnSpec.Op.keyString, column(key, count: count))
    var rows = ByteWriter()
    rows.uleb(count)
    columns.append(ColumnSpec.Op.insert, rows.bytes)
    columns.append(ColumnSpec.Op.action, column(UInt64(OpAction.set.rawValue), count: count))
    columns.append(ColumnSpec.Op.valueMetadata, column(UInt64(RawValue.Code.null), count: count))
    columns.append(ColumnSpec.Op.predecessorCount, column(UInt64(0), count: count))
    var writer = ByteWriter()
    writer.hashes([])
    writer.actor(ActorId(bytes: [0xaa]))
    writer.uleb(1)
    writer.uleb(1)
    writer.sleb(0)
    writer.string("")
    writer.uleb(0)
    columns.writeHeader(to: &writer)
    columns.writeData(to: &writer)
    return Chunk.encode(.change, body: writer.bytes).bytes
  }

  private func message(of chunks: [[UInt8]]) -> Data {
    var message = SyncMessage()
    message.changes = chunks.map { $0[...] }
    return Data(message.encoded)
  }

  private func isTooMany(_ error: LoadError?) -> Bool {
    if case .format(.tooMany)? = error { true } else { false }
  }

  @Test func whatTheColumnsHoldThemselvesIsNotCounted() throws {
    #expect(try ColumnSet.repeatedByteCount([]) == 0)
    #expect(try ColumnSet.repeatedByteCount(Self.column("four", count: 1)[...]) == 0)
    #expect(try ColumnSet.repeatedByteCount(Self.column("four", count: 11)[...]) == 40)
    var mixed = RunLengthEncoder<String>()
    for word in ["a", "bc"] { mixed.append(word) }
    mixed.appendNull(count: 1000)
    mixed.append("def", count: 3)
    #expect(try ColumnSet.repeatedByteCount(mixed.finish()[...]) == 6)
    var endless = ByteWriter()
    for _ in 0..<2 {
      endless.sleb(.max)
      endless.string("letters")
    }
    #expect(try ColumnSet.repeatedByteCount(endless.bytes[...]) == .max)
    #expect(throws: FormatError.self) { try ColumnSet.repeatedByteCount([0x7F]) }
  }

  @Test func aDocumentWhoseMessagesStandForMuchIsRefusedBeforeTheyAreWritten() throws {
    let long = Self.document(changes: 4000, message: String(repeating: "m", count: 300_000))
    let error = #expect(throws: LoadError.self) { try Document(Data(long)) }
    #expect(isTooMany(error), "\(error.map(String.init(describing:)) ?? "none")")
    // Of a peer, less is enough.
    let less = Self.document(changes: 4000, message: String(repeating: "m", count: 200_000))
    let incoming = try IncomingMessage(message(of: [less]), known: [])
    #expect(incoming.nextPortion() == nil && isTooMany(incoming.firstError))
  }

  @Test func aBundleWhoseMessagesStandForMuchIsRefusedBeforeTheyAreWritten() throws {
    let chunk = Self.bundle(changes: 60_000, message: String(repeating: "m", count: 20_000))
    let error = #expect(throws: LoadError.self) { try BundleDecoder.decode(chunk) }
    #expect(isTooMany(error), "\(error.map(String.init(describing:)) ?? "none")")
    let less = Self.bundle(changes: 60_000, message: String(repeating: "m", count: 2000))
    var budget = 64 << 20
    let other = #expect(throws: LoadError.self) { try BundleDecoder.decode(less, inflating: &budget) }
    #expect(isTooMany(other), "\(other.map(String.init(describing:)) ?? "none")")
    #expect(
      try BundleDecoder.decode(Self.bundle(changes: 3, message: "hello")).map(\.header.message) == [
        "hello", "hello", "hello",
      ])
  }

  @Test func aBundleOfVeryManyChangesIsRefusedToAPeer() throws {
    let chunk = Self.bundle(changes: 5000, message: "")
    var (plenty, little) = (4 << 20, 2 << 20)
    #expect(try BundleDecoder.decode(chunk, inflating: &plenty).count == 5000)
    #expect(plenty <= (4 << 20) - 5000 * FormatLimits.bundleChangeByteCount)
    let error = #expect(throws: LoadError.self) { try BundleDecoder.decode(chunk, inflating: &little) }
    #expect(isTooMany(error))
  }

  @Test func aMessageWithStringsThatStandForMuchIsNotLight() {
    let heavy = Self.document(changes: 4000, message: String(repeating: "m", count: 100_000))
    #expect(heavy.count < IncomingWeight.lightDocumentByteCount)
    #expect(!IncomingWeight.isLight(message(of: [heavy])))
    #expect(IncomingWeight.isLight(message(of: [Self.document(changes: 100, message: "saved")])))
    #expect(!IncomingWeight.isLight(message(of: [Self.change(puts: 4000, key: String(repeating: "k", count: 1000))])))
    #expect(IncomingWeight.isLight(message(of: [Self.change(puts: 4000, key: "k")])))
    let some = Self.change(puts: 1000, key: String(repeating: "k", count: 200))
    #expect(IncomingWeight.isLight(message(of: [some])))
    #expect(!IncomingWeight.isLight(message(of: [some, some])), "all changes of a message count together")
  }

  @Test func aChangeWhoseKeysStandForVeryMuchIsRefusedAndOneWithLessIsPaidFor() throws {
    let document = Document()
    let very = Self.change(puts: 4000, key: String(repeating: "k", count: 28_000))
    let error = #expect(throws: LoadError.self) { try document.applyEncodedChanges(encoded: Data(very)) }
    #expect(isTooMany(error), "\(error.map(String.init(describing:)) ?? "none")")
    let less = Self.change(puts: 4000, key: String(repeating: "k", count: 1000))
    let incoming = try IncomingMessage(message(of: [less]), known: [])
    #expect(incoming.nextPortion() != nil)
    #expect(incoming.takeExcess() > 3_000_000)
    try document.applyEncodedChanges(encoded: Data(less))
    #expect(document.length(obj: .ROOT) == 1)
  }
}

import Foundation
import TestSupport
import Testing

@testable import Automerge

/// A few hundred bytes may say that a long string stands in each of thousands of rows. What that costs those who hash the changes
/// is limited, and paid for, like what is inflated.
struct RepeatedStringsTests {
  private func isTooMany(_ error: LoadError?) -> Bool {
    if case .format(.tooMany)? = error { true } else { false }
  }

  @Test func whatTheColumnsHoldThemselvesIsNotCounted() throws {
    #expect(try ColumnSet.repeatedByteCount([]) == 0)
    #expect(try ColumnSet.repeatedByteCount(ForgedChunk.column("four", count: 1)[...]) == 0)
    #expect(try ColumnSet.repeatedByteCount(ForgedChunk.column("four", count: 11)[...]) == 40)
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
    let long = ForgedChunk.document(changes: 4000, message: String(repeating: "m", count: 300_000))
    let error = #expect(throws: LoadError.self) { try Document(Data(long)) }
    #expect(isTooMany(error), "\(error.map(String.init(describing:)) ?? "none")")
    // Of a peer, less is enough.
    let less = ForgedChunk.document(changes: 4000, message: String(repeating: "m", count: 200_000))
    let incoming = try IncomingMessage(ForgedChunk.message(of: [less]), known: [])
    #expect(incoming.nextPortion() == nil && isTooMany(incoming.firstError))
  }

  @Test func aBundleWhoseMessagesStandForMuchIsRefusedBeforeTheyAreWritten() throws {
    let chunk = ForgedChunk.bundle(changes: 60_000, message: String(repeating: "m", count: 20_000))
    let error = #expect(throws: LoadError.self) { try BundleDecoder.decode(chunk) }
    #expect(isTooMany(error), "\(error.map(String.init(describing:)) ?? "none")")
    let less = ForgedChunk.bundle(changes: 60_000, message: String(repeating: "m", count: 2000))
    var budget = 64 << 20
    let other = #expect(throws: LoadError.self) { try BundleDecoder.decode(less, inflating: &budget) }
    #expect(isTooMany(other), "\(other.map(String.init(describing:)) ?? "none")")
    #expect(
      try BundleDecoder.decode(ForgedChunk.bundle(changes: 3, message: "hello")).map(\.header.message) == [
        "hello", "hello", "hello",
      ])
  }

  @Test func aBundleOfVeryManyChangesIsRefusedToAPeer() throws {
    let chunk = ForgedChunk.bundle(changes: 5000, message: "")
    var (plenty, little) = (4 << 20, 2 << 20)
    #expect(try BundleDecoder.decode(chunk, inflating: &plenty).count == 5000)
    #expect(plenty <= (4 << 20) - 5000 * FormatLimits.bundleChangeByteCount)
    let error = #expect(throws: LoadError.self) { try BundleDecoder.decode(chunk, inflating: &little) }
    #expect(isTooMany(error))
  }

  /// A bundle names each dependency by a number, and its changes by 32 bytes each.
  @Test func aBundleWhoseDepsStandForMuchIsRefusedToAPeer() throws {
    let deps = (0..<200 as Range<UInt8>).compactMap { ChangeHash(bytes: Array(repeating: $0, count: 32)) }
    let chunk = ForgedChunk.bundle(changes: 300, message: "", deps: deps)
    #expect(chunk.body.count < 10_000)
    var (plenty, little) = (4 << 20, 1 << 20)
    let changes = try BundleDecoder.decode(chunk, inflating: &plenty)
    #expect(changes.count == 300 && changes.allSatisfy { $0.header.deps == deps })
    #expect(plenty <= (4 << 20) - 300 * 32 * deps.count)
    let error = #expect(throws: LoadError.self) { try BundleDecoder.decode(chunk, inflating: &little) }
    #expect(isTooMany(error))
  }

  @Test func aMessageWithStringsThatStandForMuchIsNotLight() {
    let heavy = ForgedChunk.document(changes: 4000, message: String(repeating: "m", count: 100_000))
    #expect(heavy.count < IncomingWeight.lightDocumentByteCount)
    #expect(!IncomingWeight.isLight(ForgedChunk.message(of: [heavy])))
    #expect(IncomingWeight.isLight(ForgedChunk.message(of: [ForgedChunk.document(changes: 100, message: "saved")])))
    #expect(
      !IncomingWeight.isLight(
        ForgedChunk.message(of: [ForgedChunk.change(puts: 300, key: String(repeating: "k", count: 1000))])))
    #expect(IncomingWeight.isLight(ForgedChunk.message(of: [ForgedChunk.change(puts: 100, key: "k")])))
    let some = ForgedChunk.change(puts: 160, key: String(repeating: "k", count: 900))
    #expect(IncomingWeight.isLight(ForgedChunk.message(of: [some])))
    #expect(!IncomingWeight.isLight(ForgedChunk.message(of: [some, some])), "all changes of a message count together")
  }

  @Test func aChangeWhoseKeysStandForVeryMuchIsRefusedAndOneWithLessIsPaidFor() throws {
    let document = Document()
    let very = ForgedChunk.change(puts: 4000, key: String(repeating: "k", count: 28_000))
    let error = #expect(throws: LoadError.self) { try document.applyEncodedChanges(encoded: Data(very)) }
    #expect(isTooMany(error), "\(error.map(String.init(describing:)) ?? "none")")
    let less = ForgedChunk.change(puts: 4000, key: String(repeating: "k", count: 1000))
    let incoming = try IncomingMessage(ForgedChunk.message(of: [less]), known: [])
    #expect(incoming.nextPortion() != nil)
    #expect(incoming.takeExcess() > 3_000_000)
    try document.applyEncodedChanges(encoded: Data(less))
    #expect(document.length(obj: .ROOT) == 1)
  }
}

import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Every public call with the least, the greatest and other odd arguments: it answers or throws, and the document stays
/// whole.
struct ExtremeArgumentTests {
  static let encodings: [TextEncoding] = [.unicodeScalar, .utf8, .utf16, .graphemeCluster]
  private static let deletions: [Int64] = [.min, -3, 0, 1, .max - 1, .max]
  /// A letter, marks without anything to combine with, clusters, and characters of every width.
  private static let texts = [
    "", "a", "hello", "\u{301}", "\u{301}\u{301}a", "e\u{301}\u{200D}👩\u{200D}👧b", "é世😀\r\n\0",
  ]

  private func document(_ text: String, _ encoding: TextEncoding) throws -> (
    document: Document, text: ObjId, list: ObjId
  ) {
    let document = Document(textEncoding: encoding)
    let object = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.spliceText(obj: object, start: 0, delete: 0, value: text)
    for (index, value) in [ScalarValue.Counter(.max), .String(text), .Null].enumerated() {
      try document.insert(obj: list, index: UInt64(index), value: value)
    }
    document.commitWith()
    return (document, object, list)
  }

  private func places(_ length: UInt64) -> [UInt64] {
    Array(Set([0, 1, length &- 1, length, length + 1, 1 << 31, UInt64(Int64.max), 1 << 63, .max])).sorted()
  }

  private func allowing(_ body: () throws -> Void) throws {
    do { try body() } catch is DocError {}
  }

  @Test(arguments: [0, 3, 9, 16, 99, 255] as [UInt8])
  func unknownValuesOfImpossibleTypesAreRefused(code: UInt8) throws {
    let document = Document()
    let value = AutomergeValue.scalar(.Unknown(typeCode: code, data: Data([0x80])))
    #expect(throws: DocError.self) { try document.put(obj: .ROOT, key: "list", value: AutomergeValue.array([value])) }
    #expect(throws: DocError.self) { try document.put(obj: .ROOT, key: "value", value: value) }
    #expect(throws: DocError.self) { try document.updateObject(obj: .ROOT, value: .dict(["value": value])) }
    #expect(document.keys(obj: .ROOT).isEmpty)
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long"), arguments: encodings, [false, true])
  func splicesOfAnyStartAndLengthAreDoneOrRefused(encoding: TextEncoding, isIsolated: Bool) throws {
    for text in Self.texts {
      for (isList, delete) in Self.deletions.flatMap({ [(true, $0), (false, $0)] }) {
        for start in places(isList ? 3 : UInt64(text.unicodeScalars.count)) {
          let (document, object, list) = try document(text, encoding)
          if isIsolated { try document.isolate(heads: document.heads()) }
          if isList {
            try allowing { try document.splice(obj: list, start: start, delete: delete, values: [.Int(1)]) }
            try allowing { try document.splice(obj: list, start: start, delete: delete, values: []) }
          } else {
            let fork = document.fork()
            try allowing { try document.spliceText(obj: object, start: start, delete: delete) }
            try allowing { try document.spliceText(obj: object, start: start, delete: delete, value: "é\u{301}") }
            try allowing { try fork.splice(obj: object, start: start, delete: delete, values: [.String("xy")]) }
            #expect(fork.brokenInvariant() == nil)
          }
          #expect(document.brokenInvariant() == nil)
          guard delete.magnitude > 3 else { continue }
          #expect(try Document(document.save()).heads() == document.fork().heads())
        }
      }
    }
  }

  @Test(arguments: encodings, [false, true])
  func everyCallWithAnIndexTakesAnyIndex(encoding: TextEncoding, isIsolated: Bool) throws {
    for text in Self.texts {
      let (document, object, list) = try document(text, encoding)
      let past = document.heads()
      if isIsolated { try document.isolate(heads: past) }
      for each in [object, list, .ROOT, ObjId(counter: .max, actor: ActorId())] {
        for index in places(document.length(obj: each)) {
          try allowing { _ = try document.get(obj: each, index: index) }
          try allowing { _ = try document.getAll(obj: each, index: index) }
          try allowing { _ = try document.getAt(obj: each, index: index, heads: past) }
          try allowing { _ = try document.getAllAt(obj: each, index: index, heads: past) }
          try allowing { _ = try document.marksAt(obj: each, position: .index(index)) }
          try allowing { _ = try document.marksAt(obj: each, position: .index(index), heads: past) }
          for move in [MoveCursor.before, .after] {
            try allowing {
              let cursor = try document.cursor(obj: each, position: index, move: move)
              _ = try document.position(obj: each, cursor: cursor)
              _ = try document.position(obj: each, cursor: cursor, heads: past)
              _ = try document.position(obj: list, cursor: cursor)
            }
            try allowing { _ = try document.cursor(obj: each, position: index, heads: past, move: move) }
          }
          try allowing { try document.increment(obj: each, index: index, by: .max) }
          try allowing { try document.increment(obj: each, index: index, by: .min) }
          for end in places(document.length(obj: each)) {
            for expand in [ExpandMark.both, .none] {
              try allowing {
                try document.mark(obj: each, start: index, end: end, expand: expand, name: "", value: .F64(.nan))
              }
            }
          }
          try allowing { try document.put(obj: each, index: index, value: .String("")) }
          try allowing { try document.insert(obj: each, index: index, value: .String("\u{301}")) }
          try allowing { _ = try document.putObject(obj: each, index: index, ty: .Text) }
          try allowing { _ = try document.insertObject(obj: each, index: index, ty: .Map) }
          try allowing { try document.delete(obj: each, index: index) }
        }
        for offset in [Int.min, -1, 0, 1, 2, 1 << 31, .max - 1, .max] {
          try allowing { _ = try document.cursor(obj: each, utf8Offset: offset) }
          try allowing { _ = try document.textMeasure(obj: each, utf8Offset: offset) }
          try allowing { _ = try document.textMeasure(obj: each, utf16Offset: offset) }
          try allowing { _ = try document.textMeasure(obj: each, scalarOffset: offset) }
          try allowing { _ = try document.textMeasure(obj: each, line: offset) }
          try allowing { _ = try document.textUTF8(obj: each, Int.min..<offset) }
          try allowing { _ = try document.textUTF8(obj: each, min(0, offset)..<offset) }
          for count in [Int.min, -1, 0, 1, .max - 1, .max] {
            try allowing { try document.spliceText(obj: each, utf8Offset: offset, deleteUTF8: count, insert: [97]) }
            try allowing { try document.spliceText(obj: each, utf8Offset: offset, deleteUTF8: count, insert: []) }
          }
        }
        try allowing { _ = try document.marks(obj: each) }
        try allowing { _ = try document.blame(obj: each) }
        try allowing { _ = try document.path(obj: each) }
        try allowing { try document.updateText(obj: each, value: text + "\u{301}\u{301}") }
      }
      #expect(document.brokenInvariant() == nil)
      #expect(try Document(document.save()).heads() == document.fork().heads())
    }
  }

  @Test func valuesOfAnyKindComeBackAsTheyWerePut() throws {
    let nan = Double(bitPattern: 0x7ff0_0000_dead_beef)
    let dates = [0, -0.001, -1, -62_135_596_800, 253_402_300_800, 9e15].map { Date(timeIntervalSince1970: $0) }
    var values: [ScalarValue] = [
      .F64(nan), .F64(-0.0), .F64(.infinity), .Uint(.max), .Int(.min), .Counter(.min), .Counter(.max), .Bytes(Data()),
      .String(""), .String("\0"), .String("\u{301}"), .String("\u{FFFC}"), .Unknown(typeCode: 10, data: Data()),
      .Unknown(typeCode: 15, data: Data([0, 0xff])),
    ]
    values += dates.map { .Timestamp($0) }
    let document = Document()
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.splice(obj: list, start: 0, delete: 0, values: values)
    try document.splice(obj: text, start: 0, delete: 0, values: values)
    for (number, value) in values.enumerated() { try document.put(obj: .ROOT, key: "k\(number)", value: value) }
    let loaded = try Document(document.save()), applied = Document()
    try applied.applyEncodedChanges(encoded: document.encodeChangesSince(heads: []))
    for each in [document, loaded, applied] {
      for (number, value) in values.enumerated() {
        let got = [try each.get(obj: list, index: UInt64(number)), try each.get(obj: .ROOT, key: "k\(number)")]
        for found in got {
          guard case .F64(let double) = value, case .Scalar(.F64(let present))? = found else {
            #expect(found == .Scalar(value))
            continue
          }
          #expect(present.bitPattern == double.bitPattern)
        }
      }
      #expect(try each.values(obj: text).count == values.count)
      #expect(each.brokenInvariant() == nil)
    }
    for date in [Double.nan, .infinity, -.infinity, 1e300, -1e300].map({ Date(timeIntervalSince1970: $0) }) {
      try document.put(obj: .ROOT, key: "date", value: .Timestamp(date))
      document.commitWith(message: "\0", timestamp: date)
      _ = try document.get(obj: .ROOT, key: "date")
    }
    for code in [0, 5, 9, 16, 255] as [UInt8] {
      #expect(throws: DocError.invalidValue) {
        try document.put(obj: .ROOT, key: "unknown", value: .Unknown(typeCode: code, data: Data([1])))
      }
      #expect(throws: DocError.invalidValue) {
        try document.splice(obj: list, start: 0, delete: 0, values: [.Null, .Unknown(typeCode: code, data: Data())])
      }
    }
    #expect(try Document(document.save()).heads() == document.heads())
  }

  @Test func countersGoRoundAtTheEndsOfTheirRange() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "c", value: .Counter(.max))
    try document.increment(obj: .ROOT, key: "c", by: .max)
    try document.increment(obj: .ROOT, key: "c", by: 3)
    let heads = document.heads()
    try document.increment(obj: .ROOT, key: "c", by: .min)
    document.commitWith()
    let value = try document.get(obj: .ROOT, key: "c")
    #expect(value == .Scalar(.Counter(Int64.max &+ Int64.max &+ 3 &+ Int64.min)))
    #expect(try Document(document.save()).get(obj: .ROOT, key: "c") == value)
    _ = document.difference(since: heads)
    _ = document.difference(to: heads)
    try document.undo()
    let counter = try Counter(doc: document, objId: .ROOT, key: AnyCodingKey("c"))
    counter.value = .min
    counter.increment(by: .max)
    counter.increment(by: .min)
    counter.value = .max
    _ = counter.value
  }

  @Test func keysThatLookTheSameAreTold() throws {
    let keys = ["", "\0", "é", "e\u{301}", "\u{301}", "1", ".", "[0]", "\u{212B}", "Å", "a\u{30A}"]
    let document = Document()
    for (number, key) in keys.enumerated() { try document.put(obj: .ROOT, key: key, value: .Int(Int64(number))) }
    for each in [document, try Document(document.save())] {
      for (number, key) in keys.enumerated() {
        #expect(try each.get(obj: .ROOT, key: key) == .Scalar(.Int(Int64(number))))
      }
      #expect(each.keys(obj: .ROOT).count == keys.count && each.length(obj: .ROOT) == UInt64(keys.count))
      #expect(each.difference(from: [], to: each.heads()).count == keys.count)
    }
    try document.delete(obj: .ROOT, key: "é")
    #expect(try document.get(obj: .ROOT, key: "e\u{301}") == .Scalar(.Int(3)))
    try document.undo()
    #expect(try document.get(obj: .ROOT, key: "é") == .Scalar(.Int(2)))
    #expect(document.length(obj: .ROOT) == UInt64(keys.count))
  }

  @Test func emptyAndOddBytesAreTold() throws {
    #expect(try Document(Data()).heads().isEmpty)
    let document = Document()
    try document.applyEncodedChanges(encoded: Data())
    #expect(try document.applyEncodedChangesWithPatches(encoded: Data()).isEmpty)
    #expect(document.encodeNewChanges().isEmpty)
    #expect(try document.encodeChangesSince(heads: []).isEmpty)
    #expect(document.heads().isEmpty && document.getHistory().isEmpty)
    let saved = document.save()
    #expect(try Document(saved).heads().isEmpty)
    #expect(throws: DecodeSyncStateError.self) { try SyncState(bytes: Data()) }
    #expect(throws: ReceiveSyncError.self) { try document.receiveSyncMessage(state: SyncState(), message: Data()) }
    try document.put(obj: .ROOT, key: "k", value: .Int(1))
    let whole = document.save()
    for count in 1..<whole.count { #expect(throws: LoadError.self) { try Document(whole.prefix(count)) } }
    #expect(try Document(whole + Data([1, 2, 3])).heads() == document.heads())
    // A slice of a larger buffer does not begin at 0.
    let slice = (Data([9, 9, 9]) + whole + Data([9])).dropFirst(3).dropLast()
    #expect(slice.startIndex != 0)
    #expect(try Document(slice).heads() == document.heads())
    let sliced = Document()
    try sliced.applyEncodedChanges(encoded: slice)
    #expect(sliced.heads() == document.heads())
    let raw = document.heads().raw()
    #expect((Data([1]) + raw).dropFirst().heads() == document.heads())
    let a = SyncState(), b = SyncState(), peer = Document()
    for _ in 0..<6 {
      if let message = document.generateSyncMessage(state: a) {
        try peer.receiveSyncMessage(state: b, message: (Data([1]) + message).dropFirst())
      }
      if let message = peer.generateSyncMessage(state: b) {
        try document.receiveSyncMessage(state: a, message: message)
      }
    }
    #expect(peer.heads() == document.heads())
    #expect(try SyncState(bytes: (Data([1]) + a.encode()).dropFirst()).encode() == a.encode())
    let actor = try require(ActorId(data: Data([1, 2, 3]).dropFirst()))
    #expect(actor.bytes == [2, 3])
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    #expect(throws: DocError.invalidCursor) { try document.position(obj: list, cursor: Cursor(bytes: Data())) }
  }
}

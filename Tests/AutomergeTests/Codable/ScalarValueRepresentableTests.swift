import Automerge
import Foundation
import Testing

struct ScalarValueRepresentableTests {
  /// Each Swift value, the scalar it becomes, and whether the type reads it back.
  @Test func valuesBecomeScalarsAndComeBack() throws {
    func check<Swift: ScalarValueRepresentable & Equatable>(_ value: Swift, _ scalar: ScalarValue) throws {
      #expect(value.toScalarValue() == scalar)
      #expect(try Swift.fromScalarValue(scalar).get() == value)
      #expect(throws: Swift.ConvertError.self) { try Swift.fromScalarValue(.Unknown(typeCode: 12, data: Data())).get() }
      #expect(throws: Swift.ConvertError.self) { try Swift.fromScalarValue(.Null).get() }
    }
    try check(true, .Boolean(true))
    try check("hello", .String("hello"))
    try check(Data("hello".utf8), .Bytes(Data("hello".utf8)))
    try check(try #require(URL(string: "http://url.com/a?b")), .String("http://url.com/a?b"))
    try check(Date(timeIntervalSince1970: 12.5), .Timestamp(Date(timeIntervalSince1970: 12.5)))
    try check(1.5 as Double, .F64(1.5))
    try check(1.5 as Float, .F64(1.5))
    try check(-5 as Int, .Int(-5))
    try check(Int8.min, .Int(-128))
    try check(Int16.min, .Int(-32768))
    try check(Int32.min, .Int(-2_147_483_648))
    try check(Int64.min, .Int(.min))
    try check(5 as UInt, .Uint(5))
    try check(UInt8.max, .Uint(255))
    try check(UInt16.max, .Uint(65535))
    try check(UInt32.max, .Uint(4_294_967_295))
    try check(UInt64.max, .Uint(.max))
  }

  @Test func aScalarIsItself() throws {
    #expect(try ScalarValue.fromScalarValue(.Null).get() == .Null)
    #expect(ScalarValue.Counter(3).toScalarValue() == .Counter(3))
  }

  @Test func aNumberThatDoesNotFitIsRefusedInsteadOfStoppingTheProgram() {
    #expect(throws: IntScalarConversionError.notIntScalarValue(.Int(128))) { try Int8.fromScalarValue(.Int(128)).get() }
    #expect(throws: IntScalarConversionError.self) { try Int16.fromScalarValue(.Int(.max)).get() }
    #expect(throws: IntScalarConversionError.self) { try Int32.fromScalarValue(.Int(.min)).get() }
    #expect(throws: IntScalarConversionError.self) { try UInt8.fromScalarValue(.Uint(256)).get() }
    #expect(throws: IntScalarConversionError.self) { try UInt32.fromScalarValue(.Uint(.max)).get() }
    #expect(throws: IntScalarConversionError.self) { try Int.fromScalarValue(.Uint(5)).get() }
    #expect(throws: UIntScalarConversionError.self) { try UInt.fromScalarValue(.Int(5)).get() }
  }

  @Test func aStringThatIsNoURLIsToldFromOtherValues() {
    #expect(throws: URLScalarConversionError.notMatchingURLScheme("")) { try URL.fromScalarValue(.String("")).get() }
    #expect(throws: URLScalarConversionError.notStringScalarValue(.Int(1))) { try URL.fromScalarValue(.Int(1)).get() }
  }

  @Test func everyErrorHasOneLineForPeople() {
    let errors: [any LocalizedError] = [
      BooleanScalarConversionError.notboolScalarValue(.Null), StringScalarConversionError.notstringScalarValue(.Null),
      URLScalarConversionError.notMatchingURLScheme("x"), URLScalarConversionError.notStringScalarValue(.Null),
      BytesScalarConversionError.notbytesScalarValue(.Null), UIntScalarConversionError.notUIntScalarValue(.Null),
      IntScalarConversionError.notIntScalarValue(.Null), FloatingPointScalarConversionError.notF64ScalarValue(.Null),
      TimestampScalarConversionError.notTimetampScalarValue(.Null), PathParseError.EmptyListIndex("[]"),
      PathParseError.InvalidPathElement("/"), CodingKeyLookupError.SchemaMissing("nothing there"),
      CodingKeyLookupError.AutomergeDocError(DocError.tooLarge), DocError.unknownObject(.ROOT),
      DocError.wrongType(.ROOT, .Map), DocError.outOfBounds(3), DocError.invalidCursor, DocError.unknownCursor,
      DocError.invalidValue, DocError.invalidUTF8, DocError.notACounter, LoadError.inconsistentDocument(.order),
      LoadError.format(.truncated(at: 3)), LoadError.inconsistentDocument(.heads),
      DecodeSyncStateError.format(.truncated(at: 0)), ReceiveSyncError.invalidMessage(.badDeflate),
      ReceiveSyncError.changes(.inconsistentDocument(.size)),
    ]
    for error in errors {
      let line = error.errorDescription ?? ""
      #expect(!line.isEmpty && !line.contains("\n") && error.localizedDescription == line, "\(error)")
    }
  }
}

struct SyncErrorTests {
  @Test func badSyncBytesAreTypedErrors() throws {
    let document = Document(logLevel: .debug)
    #expect(throws: ReceiveSyncError.self) {
      try document.receiveSyncMessage(state: SyncState(), message: Data([0x41, 0, 0]))
    }
    #expect(throws: DecodeSyncStateError.format(.truncated(at: 0))) { try SyncState(bytes: Data()) }
    #expect(throws: LoadError.self) { try Document(Data("not a document".utf8), logLevel: .tracing) }
  }

  @Test func logLevelsAreOrdered() {
    #expect(LogVerbosity.errorOnly < .debug && LogVerbosity.debug < .tracing)
    #expect(!LogVerbosity.errorOnly.canDebug() && LogVerbosity.debug.canDebug() && !LogVerbosity.debug.canTrace())
    #expect(LogVerbosity.tracing.canTrace())
  }
}

import Automerge
import AutomergeUtilities
import Foundation
import Testing

/// What automerge-swift has in its sources and not in a release yet, and names of 0.6 that `SourceCompatibilityTests` leaves out:
/// programs that use them compile.
struct ComingNamesTests {
  @Test func charactersAreReadByIndexAndALoadedDocumentCountsAsItIsTold() throws {
    let doc = Document(textEncoding: .utf16)
    let text = try doc.putObject(obj: .ROOT, key: "text", ty: .Text)
    try doc.spliceText(obj: text, start: 0, delete: 0, value: "a😀b")
    let heads = doc.heads()
    try doc.spliceText(obj: text, start: 0, delete: 1)
    // Either half of a surrogate pair is the whole character.
    for index: UInt64 in 1...2 {
      #expect(try doc.getAt(obj: text, index: index, heads: heads) == .Scalar(.String("😀")))
      #expect(try doc.getAllAt(obj: text, index: index, heads: heads) == [.Scalar(.String("😀"))])
    }
    #expect(try doc.get(obj: text, index: 2) == .Scalar(.String("b")))
    #expect(try doc.getAll(obj: text, index: 3).isEmpty)
    let loaded = try Document(doc.save(), textEncoding: .utf16, logLevel: .errorOnly)
    #expect(loaded.length(obj: text) == 3 && loaded.fork().textEncoding == .utf16)
    #expect(try loaded.forkAt(heads: heads).length(obj: text) == 4)
    #expect(try Document(doc.save()).length(obj: text) == 2)
  }

  @Test func richTextsHaveTheSameNames() throws {
    let doc = Document()
    let text = try doc.putObject(obj: .ROOT, key: "text", ty: .Text)
    let paragraph: [String: AutomergeValue] = [
      "type": .scalar(.String("paragraph")), "parents": .array([]), "attrs": .dict([:]),
    ]
    let block: ObjId = try doc.splitBlock(obj: text, index: 0)
    try doc.put(obj: block, key: "type", value: .String("heading"))
    try doc.splitBlock(obj: text, index: 1, block: paragraph)
    let heads = doc.heads()
    try doc.joinBlock(obj: text, index: 1)
    try doc.updateBlock(obj: text, index: 0, block: paragraph)
    let held: [String: AutomergeValue]? = try doc.block(obj: text, index: 0)
    let before: [String: AutomergeValue]? = try doc.blockAt(obj: text, index: 0, heads: heads)
    #expect(held == paragraph && before == ["type": .scalar(.String("heading"))])
    let spans: [Span] = try doc.spans(obj: text)
    #expect(spans == [.block(paragraph)])
    let past: [Span] = try doc.spansAt(obj: text, heads: heads)
    #expect(past.count == 2)
    for span in past {
      switch span {
      case .text(let string, let marks): Issue.record("\(string) \(marks)")
      case .block(let value): #expect(!value.isEmpty)
      }
    }
  }

  @Test func descriptionsAndErrorsSayWhatTheyDidBefore() throws {
    let uuid = try #require(UUID(uuidString: "06a2b97e-69c9-4036-a97f-d4167a2bb779"))
    #expect(ActorId(uuid: uuid).description == "06A2B97E69C94036A97FD4167A2BB779")
    #expect("\(ActorId(uuid: uuid))" == ActorId(uuid: uuid).hexadecimal.uppercased())
    let values: [Value] = [.Scalar(.Int(1)), .Object(.ROOT, .Map)]
    #expect(values.map(\.debugDescription).joined(separator: " ") == "ScalarValue<Int(1)> Object<_root, Map>")
    let scalars: [ScalarValue] = [.String("a"), .Uint(2), .Boolean(true), .Bytes(Data([0xab])), .Null, .F64(.nan)]
    #expect(
      scalars.map(\.description) == ["String(a)", "UInt(2)", "Boolean(true)", "Data(ab)", "Null()", "Double(nan)"])
    #expect(Set(scalars).isSuperset(of: scalars) && ScalarValue.F64(0) == .F64(-0.0))
    let doc = Document()
    try doc.put(obj: .ROOT, key: "a", value: .Int(1))
    let hash: ChangeHash = try #require(doc.heads().first)
    #expect(hash.debugDescription == hash.description && hash.debugDescription.count == 64)
    #expect(CodingKeyLookupError.SchemaMissing("nothing").failureReason == nil)
    let encoder = AutomergeEncoder(doc: doc, strategy: .readonly, cautiousWrite: true)
    #expect(encoder.doc === doc && encoder.schemaStrategy == .readonly && encoder.cautiousWrite)
    #expect(AutomergeDecoder(doc: doc).doc === doc && AutomergeDecoder(doc: doc).userInfo.isEmpty)
  }

  @Test func typesAreNamedAsTheyWere() throws {
    func stored(_ value: some ScalarValueRepresentable) -> ScalarValue { value.toScalarValue() }
    #expect(stored(true) == .Boolean(true) && stored("a") == .String("a") && stored(1) == .Int(1))
    let positions: [Position] = [.index(0), .cursor(.start)]
    let actions: [PatchAction] = [.DeleteMap(.ROOT, "a")]
    #expect(positions.count == 2 && actions.count == 1)
  }

  @Test func aChangeThatWasNotCommittedHasTheTimeZero() throws {
    struct Dog: Codable { var name: String, age: Int }
    let doc = Document(), encoder = AutomergeEncoder(doc: doc)
    try encoder.encode(Dog(name: "Fido", age: 1))
    doc.commitWith(message: "first", timestamp: Date(timeIntervalSince1970: 10))
    try encoder.encode(Dog(name: "Fido", age: 2))
    _ = doc.save()
    let changes = doc.getHistory().compactMap { doc.change(hash: $0) }
    #expect(changes.map { $0.timestamp.timeIntervalSince1970 } == [10, 0] && changes.map(\.message) == ["first", nil])
  }

  @Test func everyErrorHasADescriptionThatIsASentence() throws {
    let doc = Document(), actor = doc.actor
    try doc.put(obj: .ROOT, key: "a", value: .Int(1))
    let hash = try #require(doc.heads().first)
    let errors: [any LocalizedError] = [
      DocError.unknownObject(.ROOT), DocError.wrongType(.ROOT, .Map), DocError.outOfBounds(1), DocError.invalidCursor,
      DocError.unknownCursor, DocError.unknownChange(hash), DocError.notACounter, DocError.invalidValue,
      DocError.invalidUTF8, DocError.tooLarge, DocError.notABlock(1), DocError.isolated,
      LoadError.format(.badDeflate), LoadError.notReproducible(hash), LoadError.equalActors(actor, hash),
      LoadError.inconsistent(hash, .counters), LoadError.forged(hash), LoadError.inconsistentDocument(.heads),
      ReceiveSyncError.invalidMessage(.badDeflate), ReceiveSyncError.changes(.forged(hash)),
      DecodeSyncStateError.format(.badDeflate), BindingError.InvalidPath("a"), BindingError.NotText,
      BindingError.NotCounter, BindingError.Unbound, PathParseError.EmptyListIndex("[]"),
      PathParseError.InvalidPathElement("."), CodingKeyLookupError.AutomergeDocError(DocError.tooLarge),
      AutomergeValueError.nestedTooDeep(.ROOT), AutomergeValueError.otherType(.ROOT, .List), FormatError.badDeflate,
      BooleanScalarConversionError.notboolScalarValue(.Null), URLScalarConversionError.notMatchingURLScheme("x"),
    ]
    for error in errors {
      let description = try #require(error.errorDescription)
      #expect(description.split(separator: " ").count >= 2, "\(error)")
      // Said to people, and not as Swift writes a case.
      #expect(!description.contains("Error.") && !description.contains("(offset"), "\(description)")
      #expect((error as any Error).localizedDescription == description)
    }
  }
}

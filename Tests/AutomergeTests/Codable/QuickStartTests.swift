import Automerge
import Foundation
import Testing

/// Programs as their authors write them, against the public interface alone.
struct QuickStartTests {
  @Test func aListOfColorsIsWrittenChangedForkedAndMerged() throws {
    struct ColorList: Codable {
      var colors: [String]
    }
    let doc = Document()
    let encoder = AutomergeEncoder(doc: doc)
    var myColors = ColorList(colors: ["blue", "red"])
    try encoder.encode(myColors)
    myColors.colors.append("green")
    try encoder.encode(myColors)
    let bytesToStore = doc.save()

    let doc2 = try Document(bytesToStore)
    let doc3 = doc.fork()
    var copyOfColorList = try AutomergeDecoder(doc: doc2).decode(ColorList.self)
    copyOfColorList.colors.removeFirst()
    try AutomergeEncoder(doc: doc2).encode(copyOfColorList)
    try doc.merge(other: doc2)
    myColors = try AutomergeDecoder(doc: doc).decode(ColorList.self)
    #expect(myColors.colors == ["red", "green"])
    #expect(try AutomergeDecoder(doc: doc3).decode(ColorList.self).colors == ["blue", "red", "green"])
  }

  @Test func aNoteIsWrittenAndRead() throws {
    struct Note: Codable, Equatable {
      let created: Date
      var notes: String
    }
    let doc = Document()
    let sample = Note(created: Date(), notes: "An example string to show encoding.")
    try AutomergeEncoder(doc: doc, strategy: .createWhenNeeded, cautiousWrite: true, reportingLoglevel: .errorOnly)
      .encode(sample)
    let decoded = try AutomergeDecoder(doc: doc).decode(Note.self)
    #expect(decoded.notes == sample.notes)
    #expect(abs(decoded.created.timeIntervalSince(sample.created)) < 0.001)
  }

  @Test func votesOfTwoPollingPlacesAreAdded() throws {
    struct Ballot: Codable, Equatable {
      var votes: Counter
    }
    let doc = Document()
    try AutomergeEncoder(doc: doc).encode(Ballot(votes: Counter(0)))
    let pollingPlace1 = doc.fork()
    let place1 = try AutomergeDecoder(doc: pollingPlace1).decode(Ballot.self)
    place1.votes.value = 3
    try AutomergeEncoder(doc: pollingPlace1).encode(place1)
    let pollingPlace2 = doc.fork()
    let place2 = try AutomergeDecoder(doc: pollingPlace2).decode(Ballot.self)
    place2.votes.value = -1
    try AutomergeEncoder(doc: pollingPlace2).encode(place2)
    try pollingPlace1.merge(other: pollingPlace2)
    #expect(try AutomergeDecoder(doc: pollingPlace1).decode(Ballot.self).votes.value == 2)
  }

  @Test func textIndexesCountUnicodeScalarsUnlessAskedOtherwise() throws {
    let doc = Document()
    let textId = try doc.putObject(obj: ObjId.ROOT, key: "text", ty: .Text)
    try doc.spliceText(obj: textId, start: 0, delete: 0, value: "🇬🇧👨‍👨‍👧‍👦😀")
    let start = UInt64("🇬🇧".unicodeScalars.count)
    let delete = Int64("👨‍👨‍👧‍👦".unicodeScalars.count)
    try doc.spliceText(obj: textId, start: start, delete: delete)
    #expect(try doc.text(obj: textId) == "🇬🇧😀")
    #expect(doc.length(obj: textId) == start + 1)
    #expect(doc.textEncoding == .unicodeScalar)
  }

  @Test func actorsAreNamedByBytesAndUUIDs() throws {
    #expect(ActorId(data: Data(repeating: 0, count: 150)) == nil)
    let actor = try #require(ActorId(data: Data(0..<32)))
    let doc = Document()
    doc.actor = actor
    #expect(doc.actor == actor)
    let uuid = try #require(UUID(uuidString: "06a2b97e-69c9-4036-a97f-d4167a2bb779"))
    #expect(ActorId(uuid: uuid).description.lowercased() == "06a2b97e69c94036a97fd4167a2bb779")
  }
}

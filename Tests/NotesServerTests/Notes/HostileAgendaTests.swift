import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Agendas that our programs never make.
struct HostileAgendaTests {
  private func meeting(_ items: [MeetingContent.Item]) throws -> MeetingDocument {
    try MeetingDocument(
      new: Document(textEncoding: .utf8), MeetingContent(title: "Weekly", attendees: [], agendas: items))
  }

  /// Items with one id, and other items whose ids are the ones that would tell these apart.
  @Test func manyItemsOfOneIdAreToldApartInTimeInProportion() throws {
    func seconds(_ count: Int) throws -> Double {
      let taken = (2..<count / 2).map { MeetingContent.Item(id: "x#\($0)", title: "", discussion: "") }
      let same = (0..<count / 2).map { _ in MeetingContent.Item(id: "x", title: "", discussion: "") }
      let meeting = try meeting(taken + same)
      #expect(Set(meeting.items.map(\.id)).count == taken.count + same.count)
      return (0..<3).map { _ in ProcessorTime.inThisThread { meeting.items.count }.seconds }.min() ?? 0
    }
    // Twelve times as many items take twelve times as long; if each searched for its number from the start, far longer.
    let (short, long) = (try seconds(200), try seconds(2400))
    #expect(long < 30 * short + 0.005)
  }

  @Test func aTitleWithoutEndIsCutWhereItIsShownAndStaysInTheDocument() throws {
    let long = String(repeating: "tea ", count: 1000)
    let meeting = try meeting([.init(id: "1", title: long, discussion: ""), .init(id: "2", title: "b", discussion: "")])
    let first = try #require(meeting.items.first)
    #expect(first.title.unicodeScalars.count == NoteDocument.maximumTitleLength)
    try meeting.move(first, to: 2)
    #expect(meeting.items.map(\.id) == ["2", "1"])
    #expect(meeting.content.agendas.last?.title == long)
  }

  /// Each of many items claims to have been made from the last of many maps.
  @AutomergeRepo @Test(.enabled(if: !TestRun.isBrief, "takes long"))
  func itemsWithManyMovesAreReadInPartsAndAnHonestOneAmongThemKeepsItsName() async throws {
    let ben = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 61))))
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) }), meeting = made["id"] ?? .null
    let cake = try await ben.request("notes/addItem", ["id": meeting, "title": "Cake"])
    _ = try await ben.request("notes/addItem", ["id": meeting, "title": "Tea"])
    let handle = try await ben.handle(of: id), peer = handle.document.fork()
    let theirs = try #require(MeetingDocument(peer))
    try theirs.rename(#require(theirs.items.first { $0.title == "Cake" }), to: "Torte")
    try HostileMoves(count: 256).add(to: peer, itemCount: 60)
    _ = try await ben.request("notes/moveItem", ["id": meeting, "item": cake["item"] ?? .null, "position": 1])
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    ben.service.environment.events.send(.agendaChanged(handle))
    #expect(ben.service.fileSync.agendas.isTidying(id))
    func titles() -> [String] { MeetingDocument(handle.document)?.items.map(\.title) ?? [] }
    try await ben.wait(for: "the name") { titles().contains("Torte") && !ben.service.fileSync.agendas.isTidying(id) }
    #expect(!titles().contains("Cake"))
  }

  @Test func anItemIsNotReadBeyondTheLimitWhateverItClaims() throws {
    let peer = Document(textEncoding: .utf8)
    let meeting = try MeetingDocument(new: peer, MeetingContent(title: "Weekly", attendees: [], agendas: []))
    // The other copies of the item have as many moves.
    try HostileMoves(count: 256).add(to: peer, itemCount: 20, origin: "1@00")
    peer.commitWith()
    let item = try #require(meeting.items.first)
    #expect(item.copies.count == 19)
    #expect(throws: MoveReader.Exhausted.self) { try LeftTitle.titles(of: item, MoveReader(meeting)) }
    #expect(throws: MoveReader.Exhausted.self) { try LeftTitle.find(of: item, MoveReader(meeting)) }
  }

  /// An agenda is kept for years.
  @Test func anItemThatWasMovedMoreThanAHundredTimesIsRead() throws {
    let meeting = try meeting([
      .init(id: "1", title: "Cake", discussion: ""), .init(id: "2", title: "Tea", discussion: ""),
    ])
    meeting.document.commitWith()
    let former = meeting.document.fork()
    for _ in 0..<120 {
      try meeting.move(#require(meeting.item("1")), to: 2)
      meeting.document.commitWith()
    }
    let theirs = try #require(MeetingDocument(former))
    try theirs.rename(#require(theirs.item("1")), to: "Torte")
    former.commitWith()
    try meeting.document.merge(other: former)
    let item = try #require(meeting.item("1"))
    #expect(try LeftTitle.titles(of: item, MoveReader(meeting)).count == 121)
    #expect(try LeftTitle.find(of: item, MoveReader(meeting))?.title == "Torte")
  }
}

/// Items that claim to have been moved many times.
private struct HostileMoves {
  /// How many maps there are, each with the one before as its source.
  let count: Int

  /// - Parameter origin: the first map of all items; each has another one otherwise
  func add(to document: Document, itemCount: Int, origin: String? = nil) throws {
    guard case .Object(let agendas, .List)? = try document.get(obj: .ROOT, key: "agendas") else { return }
    var last: ObjId?
    for number in 0..<count {
      let map = try document.putObject(obj: .ROOT, key: "map \(number)", ty: .Map)
      try document.put(obj: map, key: "title", value: .String("x"))
      if let last { try document.put(obj: map, key: "from", value: .String(last.description)) }
      last = map
    }
    for number in 0..<itemCount {
      let item = try document.insertObject(obj: agendas, index: 0, ty: .Map)
      try document.put(obj: item, key: "id", value: .String(origin == nil ? "hostile \(number)" : "hostile"))
      try document.put(obj: item, key: "title", value: .String("x"))
      try document.put(obj: item, key: "from", value: .String(last?.description ?? ""))
      if let origin { try document.put(obj: item, key: "origin", value: .String(origin)) }
    }
  }
}

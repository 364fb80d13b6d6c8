import Automerge
import AutomergeRepo
import Foundation
import PeerNetwork
import PeerTransport
import Testing
import WebSocketNetwork

/// The samples in the documentation of automerge-swift and automerge-repo-swift, in words of our own: each calls what the sample
/// calls, with the same labels and in the same isolation, and with nothing added but `try`.
struct SeedSamplesTests {
  private struct Palette: Codable, Equatable {
    var colors: [String]
  }

  // MARK: automerge-swift

  @Test func theQuickStartOfItsReadMeHolds() throws {
    let doc = Document()
    let list = try doc.putObject(obj: ObjId.ROOT, key: "birds", ty: .List)
    try doc.insert(obj: list, index: 0, value: .String("wren"))
    try doc.insert(obj: list, index: 1, value: .String("robin"))
    let doc2 = doc.fork()
    try doc2.insert(obj: list, index: 0, value: .String("jay"))
    try doc.delete(obj: list, index: 0)
    try doc.merge(other: doc2)
    #expect(try doc.values(obj: list) == [.Scalar(.String("jay")), .Scalar(.String("robin"))])
  }

  @Test func itsFiveMinutesHold() throws {
    let doc = Document()
    let encoder = AutomergeEncoder(doc: doc)
    var palette = Palette(colors: ["teal", "rust"])
    try encoder.encode(palette)
    palette.colors.append("sand")
    try encoder.encode(palette)
    let bytesToStore = doc.save()

    let doc2 = try Document(bytesToStore)
    let doc3 = doc.fork()
    let doc2decoder = AutomergeDecoder(doc: doc2)
    var copy = try doc2decoder.decode(Palette.self)
    copy.colors.removeFirst()
    let doc2encoder = AutomergeEncoder(doc: doc2)
    try doc2encoder.encode(copy)
    try doc.merge(doc2)
    let decoder = AutomergeDecoder(doc: doc)
    palette = try decoder.decode(Palette.self)
    #expect(palette == Palette(colors: ["rust", "sand"]))
    #expect(try AutomergeDecoder(doc: doc3).decode(Palette.self).colors.count == 3)
  }

  @Test func itsMappedModelHolds() throws {
    struct Entry: Codable, Equatable {
      let created: Date
      var notes: String
    }
    let doc = Document()
    let automergeEncoder = AutomergeEncoder(doc: doc)
    let sample = Entry(created: Date.now, notes: "windy")
    try automergeEncoder.encode(sample)
    let automergeDecoder = AutomergeDecoder(doc: doc)
    let decoded = try automergeDecoder.decode(Entry.self)
    #expect(decoded.notes == sample.notes && abs(decoded.created.timeIntervalSince(sample.created)) < 1)
    #expect(
      try AnyCodingKey.parsePath("log.[0].notes") == [
        AnyCodingKey("log"), AnyCodingKey(UInt64(0)), AnyCodingKey("notes"),
      ])
  }

  @Test func itsSyncHolds() throws {
    let doc1 = Document()
    try doc1.put(obj: .ROOT, key: "a", value: .Int(1))
    let doc2 = doc1.fork()
    try doc1.put(obj: .ROOT, key: "b", value: .Int(2))
    try doc2.put(obj: .ROOT, key: "c", value: .Int(3))
    let sync1 = SyncState()
    let sync2 = SyncState()
    var quiet = false
    while !quiet {
      quiet = true
      if let msg = doc1.generateSyncMessage(state: sync1) {
        quiet = false
        try doc2.receiveSyncMessage(state: sync2, message: msg)
      }
      if let msg = doc2.generateSyncMessage(state: sync2) {
        quiet = false
        try doc1.receiveSyncMessage(state: sync1, message: msg)
      }
    }
    #expect(doc1.heads() == doc2.heads() && doc1.keys(obj: .ROOT) == ["a", "b", "c"])
  }

  @Test func itsAddressBookHolds() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("outside-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let skeleton = Document()
    _ = try skeleton.putObject(obj: ObjId.ROOT, key: "people", ty: .List)
    try skeleton.save().write(to: file)

    // Adding.
    let bytes = try Data(contentsOf: file)
    let document = try Document(bytes)
    let people: ObjId
    switch try document.get(obj: ObjId.ROOT, key: "people") {
    case .Object(let id, _): people = id
    default: throw BindingError.NotText
    }
    let lastIndex = document.length(obj: people)
    let person = try document.insertObject(obj: people, index: lastIndex, ty: .Map)
    let name = try document.putObject(obj: person, key: "name", ty: .Text)
    try document.spliceText(obj: name, start: 0, delete: 0, value: "Ida")
    try document.save().write(to: file)

    // Listing.
    let later = try Document(try Data(contentsOf: file))
    var names: [String] = []
    for value in try later.values(obj: people) {
      switch value {
      case .Object(let contact, .Map):
        guard case .Object(let id, .Text)? = try later.get(obj: contact, key: "name") else { continue }
        names.append(try later.text(obj: id))
      default: continue
      }
    }
    #expect(names == ["Ida"])
  }

  @Test func itsPlaceOfAMarkHolds() throws {
    let text = "🇬🇧 tea"
    let index = try #require(text.firstIndex(of: "t"))
    let place = try #require(index.samePosition(in: text.unicodeScalars))
    let distance = text.unicodeScalars.distance(from: text.unicodeScalars.startIndex, to: place)
    let mark = Mark(start: UInt64(distance), end: UInt64(distance + 3), name: "bold", value: .Boolean(true))
    #expect(mark.start == 3 && Int64("🇬🇧".unicodeScalars.count) == 2)
  }

  // MARK: automerge-repo-swift

  @Test func itsHandleMadeOfDataIsImported() async throws {
    let saved = Document()
    try saved.put(obj: .ROOT, key: "x", value: .Int(1))
    let data = saved.save()
    let repo = Repo(storage: InMemoryStorage(), sharePolicy: SharePolicy.agreeable)

    let documentFromData = try Document(data)
    let newHandle = DocHandle(id: DocumentId(), doc: documentFromData)
    let handle = try await repo.import(handle: newHandle)

    #expect(handle.id == newHandle.id && handle.doc === documentFromData)
    // Code that still uses the first handle changes the same document.
    try await newHandle.change { try $0.put(obj: .ROOT, key: "x", value: .Int(2)) }
    try await repo.flush()
    #expect(await handle.isStored)
    #expect(try await repo.import(handle: handle) === handle)
    // A second copy under the same id is merged.
    let copy = DocHandle(id: handle.id, doc: try Document(data))
    try await copy.change { try $0.put(obj: .ROOT, key: "y", value: .Int(3)) }
    try await repo.import(handle: copy)
    #expect(handle.doc.keys(obj: .ROOT) == ["x", "y"])
    #expect(try handle.doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(2)))
  }

  @Test func aHandleThatBelongsToNoRepoSaysThatNothingIsStored() async throws {
    let handle = DocHandle(id: DocumentId(), doc: Document())
    try await handle.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    #expect(await !handle.isStored)
    #expect(await handle.peers.isEmpty)
    #expect(DocumentId(handle.id.description as String?) == handle.id && DocumentId(nil as String?) == nil)
  }

  @Test func itsWebSocketProviderConnectsToAServer() async throws {
    let (server, url) = try await Self.server()
    let theirs = try await server.repo.create()
    try await theirs.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }

    let repo = Repo(sharePolicy: SharePolicy.agreeable)
    let websocket = try WebSocketProvider(.init(reconnectOnError: true, loggingAt: .tracing))
    await repo.addNetworkAdapter(adapter: websocket)
    try await websocket.connect(to: url)

    let found = try await repo.find(id: theirs.id, within: .patient)
    #expect(try found.doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(1)))
    #expect(await websocket.isConnected(server.repo.peerId))
    await websocket.disconnect()
    for await states in await websocket.serverStateUpdates() where states.isEmpty { break }
    for await peers in await repo.peerUpdates() where peers.isEmpty { break }
    try await server.repo.shutDown()
  }

  @Test func aServerThatDoesNotAnswerIsToldAndNotCalledAgain() async throws {
    let (server, url) = try await Self.server()
    await server.sockets.stopListening()
    let repo = Repo()
    let websocket = try WebSocketProvider(.default)
    await #expect(throws: PeerNetworkError.stopped) { try await websocket.connect(to: url) }
    await repo.addNetworkAdapter(adapter: websocket)
    await #expect(throws: PeerNetworkError.self) { try await websocket.connect(to: url) }
    #expect(await websocket.serverStates.isEmpty)
    let web = try #require(URL(string: "https://example.org/"))
    await #expect(throws: PeerNetworkError.badURL("https://example.org/")) { try await websocket.connect(to: web) }
    try await server.repo.shutDown()
  }

  @AutomergeRepo
  private static func server() async throws -> (server: (repo: Repo, sockets: WebSocketProvider), url: URL) {
    let (repo, sockets) = (Repo(peerId: "server", sharePolicy: SharePolicy.agreeable), try await WebSocketProvider())
    repo.add(sockets)
    let address = try sockets.listen(at: PeerAddress(host: "127.0.0.1", port: 0)) { _ in .accept(.token("any")) }
    return ((repo, sockets), try #require(URL(string: "ws://\(address)/")))
  }

  @Test func itsPeerToPeerProviderIsConfiguredAndAdded() async throws {
    let repo = Repo(sharePolicy: SharePolicy.agreeable)
    let peerToPeer = PeerToPeerProvider(
      PeerToPeerProviderConfiguration(passcode: "plum-otter-lamp", reconnectOnError: true, autoconnect: false))
    await repo.addNetworkAdapter(adapter: peerToPeer)
    #expect(await peerToPeer.peeredConnections.isEmpty)
  }
}

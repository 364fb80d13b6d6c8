import Automerge
import AutomergeRepo
import Foundation
import PeerNetwork
import PeerTransport
import Testing
import WebSocketNetwork

/// Every row of `Compared.md` that says “same”: what a program written against automerge-repo-swift names, with its labels.
struct RepoNamesTests {
  @Test func aRepoHasTheSameNames() async throws {
    let repo = Repo(sharePolicy: SharePolicy.agreeable), stored = Repo(storage: InMemoryStorage())
    let id = DocumentId(), data = Document().save()
    let handles: [DocHandle] = [
      try await repo.create(), try await repo.create(id: id), try await repo.create(doc: Document(), id: DocumentId()),
      try await repo.create(data: data), try await repo.create(data: data, id: DocumentId()),
      try await repo.import(handle: DocHandle(id: DocumentId(), doc: Document())), try await repo.clone(id: id),
    ]
    #expect(try await repo.find(id: id) === handles[1])
    #expect(try await Set(repo.documentIds()) == Set(handles.map(\.id)))
    #expect(try await Document(repo.export(id: id)).heads() == handles[1].doc.heads())
    try await repo.delete(id: id)
    #expect(try await repo.documentIds().count == 6)
    #expect(try await repo.storageId() == nil)
    #expect(try await stored.storageId() != nil)
    #expect(repo.peerId != stored.peerId)
    await repo.subscribeToRemotes(remotes: [StorageId("shelf")])
  }

  @Test @AutomergeRepo func aRepoIsMadeWithItsStoreAndNetworks() async throws {
    let wire = Wire(), store = InMemoryStorage()
    let ana = Repo(sharePolicy: SharePolicy.agreeable, storage: store, networks: [wire.ends[0]])
    let ben = Repo(sharePolicy: SharePolicy.agreeable, storage: InMemoryStorage())
    ben.addNetworkAdapter(adapter: wire.ends[1])
    wire.connect()
    let hers = try await ana.create(id: DocumentId())
    #expect(try await ben.find(id: hers.id, within: .patient).doc.heads() == hers.doc.heads())
    try await ana.flush()
    #expect(try await Repo(storage: store).documentIds() == [hers.id])
  }

  @Test @AutomergeRepo func idsAreMadeWrittenAndCompared() throws {
    let uuid = UUID(), id = DocumentId(uuid)
    let texts: [String] = [id.id, id.description]
    #expect(texts[0] == texts[1] && DocumentId(texts[0]) == id && DocumentId("no id") == nil)
    #expect(id != DocumentId() && [id].sorted().map(\.id) == [texts[0]])
    #expect(try JSONDecoder().decode([DocumentId].self, from: JSONEncoder().encode([id])) == [id])
    let metadata = PeerMetadata(storageId: StorageId("shelf"), isEphemeral: true)
    #expect(metadata.storageId == StorageId("shelf") && metadata.isEphemeral)
  }

  @Test func peersNearbyHaveTheSameNames() async throws {
    let name: String = PeerToPeerProviderConfiguration.defaultSharingIdentity()
    let nearby = PeerToPeerProvider(
      PeerToPeerProviderConfiguration(
        passcode: "plum", reconnectOnError: false, autoconnect: false, waitForPeerTimeout: .seconds(5)))
    #expect(await nearby.peerName == name)
    await nearby.setName("Ana")
    #expect(await nearby.peerName == "Ana")
    await nearby.disconnect(peerId: nearby.peerId)
    await nearby.disconnect()
    await nearby.stopListening()
    #expect(await nearby.peeredConnections.sorted().map(\.description).isEmpty)
    let peers: (PartialKeyPath<AvailablePeer>, PartialKeyPath<AvailablePeer>) = (\.peerId, \.name)
    let connections: [PartialKeyPath<PeerConnectionInfo>] = [
      \.peerId, \.peerMetadata, \.endpoint, \.initiated, \.id, \.description,
    ]
    #expect(peers.0 != peers.1 && Set(connections).count == 6)
    #expect(await nearby.availablePeers.sorted().map(\.debugDescription).isEmpty)
  }

  @Test func aWebSocketProviderHasTheSameNames() async throws {
    let configuration = WebSocketProviderConfiguration(
      reconnectOnError: true, loggingAt: .errorOnly, maxNumberOfConnectRetries: 3)
    #expect(configuration.reconnectOnError && configuration.maxNumberOfConnectRetries == 3)
    #expect(WebSocketProviderConfiguration.default.reconnectOnError && configuration.logger.logLevel == .warning)
    let web = try WebSocketProvider(configuration)
    await web.disconnect()
    #expect(await web.serverStates.isEmpty)
  }
}

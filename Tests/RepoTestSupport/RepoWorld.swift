import Automerge
import AutomergeRepo
import Foundation

/// Several repos on one simulated network, with stores that outlive them.
@AutomergeRepo
public final class RepoWorld {
  public let clock = ManualClock()
  public let network: SimulatedNetwork
  public private(set) var repos: [String: Repo] = [:]
  public private(set) var stores: [String: FaultyStorage] = [:]
  private var disks: [String: InMemoryStorage] = [:]
  private var random: RandomSource

  public init(random: RandomSource) {
    self.random = random
    network = SimulatedNetwork(clock: clock, random: random)
    clock.standing = { [weak self] in self?.isReading ?? false }
  }

  /// Whether a repo reads on another thread, unless a test keeps it from reading.
  private var isReading: Bool {
    repos.contains { name, repo in
      stores[name]?.heldLoadCount == 0 && (repo.entries.isReading || repo.connections.isReading)
    }
  }

  /// Starts a repo, over what an earlier one of the same name has stored.
  @discardableResult
  public func start(
    _ name: String, policy: any ShareAuthorizing = ShareEverything(), metadata: PeerMetadata? = nil
  ) -> Repo {
    let disk = disks[name] ?? InMemoryStorage()
    let store = FaultyStorage(disk)
    let repo = Repo(
      peerId: PeerId(name), metadata: metadata ?? PeerMetadata(name: name), storage: store, sharePolicy: policy,
      clock: clock,
      random: RandomSource(random))
    _ = random.next()
    repo.add(network.provider())
    (disks[name], stores[name], repos[name]) = (disk, store, repo)
    return repo
  }

  /// Ends a repo as a crash does: nothing more is sent or stored.
  public func crash(_ name: String) {
    network.disconnectAll(of: PeerId(name))
    stores[name]?.die()
    repos[name] = nil
  }

  public func connect(_ one: String, _ other: String) { network.connect(PeerId(one), PeerId(other)) }
  public func disconnect(_ one: String, _ other: String) { network.disconnect(PeerId(one), PeerId(other)) }

  public func connectAll() {
    for one in repos.keys { for other in repos.keys { connect(one, other) } }
  }

  /// Looks for a document while time passes, by default not so much that the search gives up.
  public func find(_ id: DocumentId, at name: String, horizon: Duration = .seconds(3)) async throws -> FindOutcome? {
    guard let repo = repos[name] else { return nil }
    let box = Box()
    Task { box.outcome = await repo.find(id) }
    try await clock.run(until: "find ends", horizon: horizon) { box.outcome != nil }
    return box.outcome
  }

  public func handle(_ id: DocumentId, at name: String) async throws -> DocHandle? {
    if case .found(let handle) = try await find(id, at: name) { return handle }
    return nil
  }

  /// Stores everything of one repo while time passes.
  public func flush(_ name: String) async throws {
    guard let repo = repos[name] else { return }
    let box = Box()
    Task {
      do throws(StorageError) { try await repo.flush() } catch { box.error = error }
      box.isDone = true
    }
    try await clock.run(until: "flushed") { box.isDone }
    if let error = box.error { throw error }
  }

  @AutomergeRepo
  private final class Box {
    var outcome: FindOutcome?
    var error: StorageError?
    var isDone = false
  }
}

extension Document {
  /// A document with an empty text at `content`.
  public static func note(_ content: String = "") throws -> Document {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: content)
    document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    return document
  }

  /// Changes without content by as many actors, each on top of a document as it is now.
  public static func changes(onTopOf document: Document, count: Int) throws -> Data {
    let heads = document.heads()
    return try (0..<count).reduce(into: Data()) { changes, _ in
      let fork = document.fork()
      fork.commitEmpty(timestamp: Date(timeIntervalSince1970: 0))
      changes += try fork.encodeChangesSince(heads: heads)
    }
  }

  public func contentId() throws -> ObjId? {
    if case .Object(let id, .Text)? = try get(obj: .ROOT, key: "content") { return id }
    return nil
  }

  public func content() throws -> String? {
    try contentId().map { try text(obj: $0) }
  }
}

extension DocHandle {
  /// Replaces part of the content, in scalars.
  public func splice(_ start: Int, delete: Int = 0, _ value: String) throws {
    try change { document in
      guard let id = try document.contentId() else { return }
      try document.spliceText(obj: id, start: UInt64(start), delete: Int64(delete), value: value)
    }
  }

  /// Some edit that makes sense.
  public func randomEdit(using random: inout some RandomNumberGenerator) throws {
    try change { document in
      guard let id = try document.contentId() else { return }
      let length = Int(document.length(obj: id))
      let start = Int.random(in: 0...length, using: &random)
      let delete = Bool.random(using: &random) ? Int.random(in: 0...min(5, length - start), using: &random) : 0
      let words = ["a", "b ", "\n", "word", "é", "😀", ""]
      let value = words.randomElement(using: &random) ?? ""
      try document.spliceText(obj: id, start: UInt64(start), delete: Int64(delete), value: value)
    }
  }
}

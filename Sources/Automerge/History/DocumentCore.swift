/// A document's state and the operations on it. `Document` guards it with a lock.
final class DocumentCore {
  let actors: ActorTable
  let bytes: TextBytes
  let store: ObjectStore
  let log: RunLog
  let graph: ChangeGraph
  var transaction: Transaction?
  /// The text used last: a person types into one text at a time.
  var lastText: (object: ObjId, id: OpId, tree: TextTree)?
  /// This document's own actor, and its index once it is known.
  private var own: (id: ActorId, index: UInt32?)
  var queue: ChangeQueue
  let lookups = DocumentLookups()
  /// The chunk of the change that was hashed or received last: every peer and the journal are given it right after.
  private var newestChunk: (row: Int, bytes: [UInt8]) = (-1, [])
  /// Set while the document is isolated at a past state.
  var isolation: Isolation?
  /// Why a change of an equal actor was refused while others were applied. Without this error the two copies would stay
  /// different with no error.
  var equalActors: LoadError?
  /// The first row that `encodeNewChanges` has not returned.
  var firstNewRow = 0

  init(actor: ActorId) {
    own = (actor, nil)
    actors = ActorTable()
    bytes = TextBytes()
    store = ObjectStore(bytes: bytes, actors: actors)
    log = RunLog(bytes: bytes, actors: actors)
    graph = ChangeGraph()
    queue = ChangeQueue()
  }

  /// A copy with another actor, to be changed independently.
  init(copying other: DocumentCore, actor: ActorId) {
    own = (actor, nil)
    actors = ActorTable(copying: other.actors)
    bytes = TextBytes(copying: other.bytes)
    store = ObjectStore(copying: other.store, bytes: bytes, actors: actors)
    log = RunLog(copying: other.log, bytes: bytes, actors: actors)
    graph = ChangeGraph(copying: other.graph)
    queue = other.queue
  }

  /// A document loaded from a document chunk.
  init(actor: ActorId, store: ObjectStore, log: RunLog, graph: ChangeGraph) {
    own = (actor, nil)
    (actors, bytes, self.store, self.log) = (store.actors, store.bytes, store, log)
    self.graph = graph
    queue = ChangeQueue()
  }

  var actor: ActorId {
    get { own.id }
    set { own = (newValue, nil) }
  }

  /// The index of `actor`, which is added to the table at the first use.
  var ownActor: UInt32 {
    if let index = own.index { return index }
    let index = actors.index(of: actor)
    own.index = index
    return index
  }

  // MARK: Names

  func objId(_ id: OpId) -> ObjId {
    id.isZero ? .ROOT : ObjId(counter: UInt64(id.counter), actor: actors[id.actor])
  }

  /// Nil if this document has no such object.
  func opId(_ object: ObjId) -> OpId? {
    guard let actor = object.actor else { return .zero }
    guard let index = actors.find(actor), let counter = UInt32(exactly: object.counter) else { return nil }
    let id = OpId(counter: counter, actor: index)
    return store.type(of: id) == nil ? nil : id
  }

  // MARK: Hashes and bytes

  func header(ofRow row: Int) -> ChangeHeader {
    let record = graph.records[row]
    return ChangeHeader(
      deps: graph.deps(of: row).map { graph.hashes[Int($0)] }, actor: actors[record.actor], seq: UInt64(record.seq),
      startOp: record.startOp, time: record.time, message: graph.messages[row], extra: graph.extras[row] ?? [])
  }

  func chunk(ofRow row: Int) -> [UInt8] {
    computeHashes()
    if row == newestChunk.row { return newestChunk.bytes }
    return Chunk.frame(.change, body: body(ofRow: row), checksum: graph.hashes[row])
  }

  /// Ascending.
  var heads: [ChangeHash] {
    computeHashes()
    return graph.headHashes
  }

  var headSet: Set<ChangeHash> {
    computeHashes()
    return graph.headSet
  }

  func row(of hash: ChangeHash) -> Int? {
    computeHashes()
    return graph.row(of: hash)
  }

  /// Longer chunks are made again each time.
  private static let maximumKeptByteCount = 4096

  /// Keeps the chunk of the change that was hashed last.
  func keepNewest(_ chunk: @autoclosure () -> [UInt8], byteCount: Int, ofRow row: Int) {
    if byteCount <= Self.maximumKeptByteCount { newestChunk = (row, chunk()) }
  }
}

import Foundation

/// A peer's large sync message, which is decoded apart from the document and handed over in portions.
///
/// Inflating, hashing and decoding need no document, so they may run on another thread; and a portion is so small that
/// applying it locks the document for milliseconds. One caller at a time. This does not touch the document that the
/// portions are applied to.
///
///     let incoming = try IncomingMessage(data, known: document.getHistory())
///     while let portion = incoming.nextPortion() { edits += try document.takeIn(portion, filter: &filter).edits }
///     try document.finish(incoming, state: state)
package final class IncomingMessage: @unchecked Sendable {
  // Unchecked: one caller uses it at a time, each time possibly on another thread.

  /// The message without the changes.
  let header: SyncMessage
  private(set) var charges = IncomingCharges()

  private let chunks: ArraySlice<UInt8>
  private var reader: ChunkReader
  /// How many bytes may still be inflated, and how many of them a second time, by `widening`.
  private var inflatedLeft: Int
  private var surveyedLeft: Int
  /// The changes that the document had when the message came.
  private var known: [ChangeHash]
  private var knownSet: Set<ChangeHash>?
  /// A whole document, whose unknown changes are handed over one by one.
  private var listing: (core: DocumentCore, rows: [Int], next: Int)?
  /// Documents that were decoded before their turn, by their hashes.
  private var documents: [ChangeHash: DocumentDecoder.Loaded] = [:]
  private var isFirst = true
  /// The first error, and whether anything was good.
  private(set) var firstError: LoadError?
  private(set) var isAnyGood = false

  /// Source of all limits: PeerProtocol.md, "Expensive changes".
  enum Limit {
    /// What a portion holds, unless a single change is larger.
    static let pieces = 4096
    static let byteCount = 512 << 10
    /// How many stretches of text, deletions and other operations one change of a peer may have.
    static let piecesOfChange = 1 << 17
    /// A whole document may have this many operations other than typing and deleting, or one for each of its bytes. Each takes some
    /// hundreds of bytes of memory.
    static let otherOpsOfDocument = 1 << 19
    /// How many bytes a message may inflate to, unless it is large itself.
    static let inflatedByteCount = 64 << 20
    static let inflatedRatio = 4
    /// How many changes, and pieces of bundles, are searched for those that their author has vouched for.
    static let surveyed = 1 << 17
  }

  /// The chunks of a file, as if a peer had sent them.
  ///
  /// - Parameter inflatedByteCount: how many bytes they may inflate to
  init(chunks: ArraySlice<UInt8>, inflatingAtMost inflatedByteCount: Int) {
    (header, self.chunks, known) = (SyncMessage(), chunks, [])
    (inflatedLeft, surveyedLeft) = (inflatedByteCount, 0)
    reader = ChunkReader(chunks)
  }

  /// Throws `FormatError` if the bytes are not a message.
  package convenience init(_ message: Data, known: [ChangeHash]) throws {
    try self.init(message, known: known, inflatingAtMost: Limit.inflatedByteCount)
  }

  /// - Parameter inflatedByteCount: how many bytes the message may inflate to, unless it is large itself
  init(_ message: Data, known: [ChangeHash], inflatingAtMost inflatedByteCount: Int) throws {
    var decoded = try SyncMessage(decoding: Array(message)[...])
    let changes = decoded.changes
    chunks = changes.count == 1 ? changes[0] : ArraySlice(changes.joined())
    decoded.changes = []
    (header, self.known) = (decoded, known)
    inflatedLeft = max(inflatedByteCount, Limit.inflatedRatio * message.count)
    surveyedLeft = inflatedByteCount
    reader = ChunkReader(chunks)
  }

  /// A message without its changes, for those who do not take them, and whether it had any; nil if the bytes are not a
  /// message.
  package static func withoutChanges(_ message: Data) -> (header: Data, hadChanges: Bool)? {
    guard var decoded = try? SyncMessage(decoding: Array(message)[...]) else { return nil }
    let hadChanges = !decoded.changes.isEmpty
    decoded.changes = []
    return (Data(decoded.encoded), hadChanges)
  }

  /// The next portion to apply; nil at the end.
  package func nextPortion() -> ChangePortion? {
    var portion = ChangePortion()
    while portion.pieceCount < Limit.pieces, portion.byteCount < Limit.byteCount, portion.loaded == nil {
      do throws(LoadError) {
        if try addListed(to: &portion) { continue }
        let start = reader.offset
        guard let chunk = try nextChunk() else { break }
        try add(chunk, to: &portion)
        if portion.loaded != nil { portion.wholeDocument = chunks[start..<reader.offset] }
      } catch {
        firstError = firstError ?? error
      }
    }
    return portion.isEmpty ? nil : portion
  }

  /// Whether `nextPortion` has nothing more to return.
  package var isAtEnd: Bool { listing == nil && reader.isAtEnd }

  /// Call when the document is no longer empty: the whole document of the portion is then handed over change by change,
  /// as far as the changes are missing.
  package func list(_ portion: ChangePortion, known: [ChangeHash]) {
    guard let loaded = portion.loaded else { return }
    (self.known, knownSet) = (known, nil)
    begin(listing: loaded)
  }

  func noteGood() { isAnyGood = true }

  func note(_ error: LoadError) { firstError = firstError ?? error }

  private func nextChunk() throws(LoadError) -> Chunk? {
    let before = reader.offset
    reader.inflateBudget = inflatedLeft
    defer { charges.addInflated(to: &inflatedLeft, leaving: reader.inflateBudget, stored: reader.offset - before) }
    do throws(FormatError) { return try reader.next()?.get() } catch { throw .format(error) }
  }

  /// Returns the chargeable bytes since the last call.
  package func takeExcess() -> Int { charges.take() }

  private func add(_ chunk: Chunk, to portion: inout ChangePortion) throws(LoadError) {
    defer { isFirst = false }
    switch chunk.kind {
    case .change, .compressedChange:
      let change = try ChangeDecoder.decode(
        chunk, atMost: Limit.piecesOfChange, denseOps: FormatLimits.denseOpsOfPeer)
      charges.addOps(change.opWeight, in: chunk)
      charges.addText(of: change, in: chunk)
      portion.append(change, byteCount: chunk.body.count)
    case .bundle:
      let changes = try changes(of: chunk, &inflatedLeft)
      charges.addOps(changes.reduce(0) { $0 + $1.opWeight }, in: chunk)
      for change in changes { portion.append(change, byteCount: change.text.count) }
    case .document:
      let loaded = if let known = documents.removeValue(forKey: chunk.hash) { known } else { try load(chunk) }
      charges.addOps(loaded.log.others.reduce(0) { $0 + $1.weight }, in: chunk)
      if isFirst, known.isEmpty { portion.loaded = loaded } else { begin(listing: loaded) }
    }
  }

  private func load(_ chunk: Chunk) throws(LoadError) -> DocumentDecoder.Loaded {
    var left = inflatedLeft
    defer { charges.addInflated(to: &inflatedLeft, leaving: left, stored: chunk.body.count) }
    let loaded = try DocumentDecoder.decode(
      chunk, inflating: &left, opsAtMost: max(Limit.otherOpsOfDocument, chunk.body.count))
    guard Int(loaded.graph.maxOp) <= loaded.log.opCount + FormatLimits.counterGap else {
      throw .inconsistentDocument(.counters)
    }
    return loaded
  }

  private func changes(of bundle: Chunk, _ budget: inout Int) throws(LoadError) -> [DecodedChange] {
    var left = budget
    defer { charges.addInflated(to: &budget, leaving: left, stored: bundle.body.count) }
    return try BundleDecoder.decode(bundle, inflating: &left)
  }

  // MARK: A whole document, for one that has something

  private func begin(listing loaded: DocumentDecoder.Loaded) {
    let core = DocumentCore(actor: ActorId(bytes: []), store: loaded.store, log: loaded.log, graph: loaded.graph)
    core.computeHashes()
    let known = knownHashes
    listing = (core, core.graph.hashes.indices.filter { !known.contains(core.graph.hashes[$0]) }, 0)
    isAnyGood = true
  }

  private var knownHashes: Set<ChangeHash> {
    let set = knownSet ?? Set(known)
    knownSet = set
    return set
  }

  private func addListed(to portion: inout ChangePortion) throws(LoadError) -> Bool {
    guard let (core, rows, next) = listing else { return false }
    guard next < rows.count else {
      listing = nil
      return false
    }
    listing?.next += 1
    let change = try core.decodedChange(ofRow: rows[next], atMost: Limit.piecesOfChange)
    portion.append(change, byteCount: change.text.count)
    return true
  }

  // MARK: Whose changes count

  /// Determines what `filter` lets through of the whole message, so that each portion can be filtered separately.
  ///
  /// Charges for what it inflates. Gives up if that is too much: the filter is then as good for each portion, but
  /// leaves out changes that only later portions vouch for.
  ///
  /// - Parameter isOver: asked before each chunk; whether the result is no longer needed
  package func widening(_ filter: AuthorFilter, unless isOver: () -> Bool = { false }) -> AuthorFilter {
    guard filter.attested.contains(where: { !$0.value.isEmpty }) else { return filter }
    defer { charges.prepay() }
    var survey = Survey()
    var reader = ChunkReader(chunks)
    while !reader.isAtEnd {
      guard surveyedLeft > 0, survey.workCount < Limit.surveyed, !isOver() else { return filter }
      let before = reader.offset
      reader.inflateBudget = surveyedLeft
      let next = reader.next()
      charges.addInflated(to: &surveyedLeft, leaving: reader.inflateBudget, stored: reader.offset - before)
      guard let chunk = try? next?.get() else { continue }
      switch chunk.kind {
      case .change, .compressedChange: survey.add(chunk)
      case .bundle:
        guard let changes = try? changes(of: chunk, &surveyedLeft) else { return filter }
        for change in changes { survey.add(change) }
      case .document:
        // No program sends two.
        guard documents.isEmpty, let loaded = try? load(chunk) else { return filter }
        documents[chunk.hash] = loaded
        survey.add(loaded)
      }
    }
    return survey.workCount < Limit.surveyed ? survey.widening(filter) : filter
  }
}

/// Some changes that can be applied at once, or a whole document for an empty one.
package struct ChangePortion: @unchecked Sendable {
  // Unchecked: it contains a decoded document, which has no other owner.

  private(set) var changes: [DecodedChange] = []
  fileprivate(set) var loaded: DocumentDecoder.Loaded?
  /// The document's chunk, if this is a whole document. Only an empty document can use it.
  package fileprivate(set) var wholeDocument: ArraySlice<UInt8>?
  /// How many changes the whole document has.
  package var wholeDocumentChangeCount: Int { loaded?.graph.count ?? 0 }
  fileprivate(set) var pieceCount = 0
  fileprivate(set) var byteCount = 0

  fileprivate var isEmpty: Bool { changes.isEmpty && loaded == nil }

  fileprivate mutating func append(_ change: DecodedChange, byteCount: Int) {
    pieceCount += 1 + change.runs.count
    self.byteCount += byteCount + change.repeatedByteCount
    changes.append(change)
  }
}

/// The authors of the changes of a message, and what these depend on.
private struct Survey {
  private var hashes: [ChangeHash] = []
  private var deps: [[ChangeHash]] = []
  private var authors: [ActorId] = []

  /// How much work the survey was: changes, and the pieces of those that came in bundles.
  private(set) var workCount = 0

  mutating func add(_ chunk: Chunk) {
    var reader = ByteReader(chunk.body)
    workCount += 1
    guard let named = try? reader.hashes(), let author = try? reader.actor() else { return }
    hashes.append(chunk.hash)
    deps.append(named)
    authors.append(author)
  }

  mutating func add(_ change: DecodedChange) {
    workCount += 1 + change.runs.count
    hashes.append(change.hash)
    deps.append(change.header.deps)
    authors.append(change.header.actor)
  }

  mutating func add(_ loaded: DocumentDecoder.Loaded) {
    let graph = loaded.graph
    workCount += graph.count
    for row in graph.hashes.indices {
      hashes.append(graph.hashes[row])
      deps.append(graph.deps(of: row).map { graph.hashes[Int($0)] })
      authors.append(loaded.store.actors[graph.records[row].actor])
    }
  }

  func widening(_ filter: AuthorFilter) -> AuthorFilter {
    let places = Dictionary(zip(hashes, hashes.indices)) { first, _ in first }
    var attested = filter.attested
    for (actor, vouched) in filter.attested where !vouched.isEmpty {
      var open = vouched.compactMap { places[$0] }
      var seen = Set(open)
      while let place = open.popLast() {
        if authors[place] == actor { attested[actor, default: []].insert(hashes[place]) }
        for dep in deps[place] {
          if let next = places[dep], seen.insert(next).inserted { open.append(next) }
        }
      }
    }
    return AuthorFilter(attested: attested)
  }
}

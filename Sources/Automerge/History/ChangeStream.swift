extension DocumentCore {
  /// Applies changes from the front of some chunks, up to one that `filter` may leave out, and returns how many bytes
  /// they have. No transaction is pending.
  /// - Complexity: O(n) in the bytes, even if nothing is applied
  func takeRuns(
    _ memory: UnsafeBufferPointer<UInt8>, edits: inout TextEditCollector?, filter: AuthorFilter?
  ) -> Int {
    guard graph.count > 0, queue.isEmpty, let first = ChangeFrame(memory, at: 0) else { return 0 }
    computeHashes()
    var stream = ChangeStream(memory, core: self, filter: filter)
    return stream.take(from: first, edits: &edits)
  }
}

/// Applies changes of others in their most common form: each is one run of typing or deleting.
///
/// A shortcut through `DocumentCore.take`, which only adds a run's operations to the objects and to the log. It applies
/// only what `take` would apply, with the same result, and leaves everything else to `take`.
private struct ChangeStream: ~Copyable {
  private let core: DocumentCore
  private let memory: UnsafeBufferPointer<UInt8>
  private var encoder = SingleRunEncoder()
  private var gate: FrameGate?

  init(_ memory: UnsafeBufferPointer<UInt8>, core: DocumentCore, filter: AuthorFilter?) {
    (self.memory, self.core) = (memory, core)
    gate = filter.map { FrameGate($0, core: core) }
  }

  /// Returns how many bytes were applied.
  mutating func take(from first: ChangeFrame, edits: inout TextEditCollector?) -> Int {
    if first.body.upperBound == memory.count {
      gate?.open(through: [first])
      guard take(first, at: 0, edits: &edits) else { return 0 }
      if core.graph.hashes.last == first.hash {
        core.keepNewest(Array(memory[first.chunk]), byteCount: first.chunk.count, ofRow: core.graph.count - 1)
      }
      return memory.count
    }
    var frames = [first], last = first, isOneBranch = true
    while last.body.upperBound < memory.count {
      guard let next = ChangeFrame(memory, at: last.body.upperBound) else { return 0 }
      if isOneBranch { isOneBranch = next.follows(last.hash, in: memory) }
      frames.append(next)
      last = next
    }
    core.graph.reserve(frames.count)
    if isOneBranch {
      gate?.open(through: frames)
      var taken = 0
      for (place, frame) in frames.enumerated() {
        guard take(frame, at: place, edits: &edits) else { break }
        taken = frame.body.upperBound
      }
      return taken
    }
    // What must be left out of several branches is only known when all of them are read.
    gate?.open(through: [])
    guard let order = order(of: frames) else { return 0 }
    for place in order where !take(frames[place], at: 0, edits: &edits) { return 0 }
    return memory.count
  }

  private mutating func take(_ frame: ChangeFrame, at place: Int, edits: inout TextEditCollector?) -> Bool {
    if isKnown(frame) { return true }
    gate?.advance(to: place)
    return takeRun(frame, edits: &edits) || takeWhole(frame, edits: &edits)
  }

  /// Does not search for a change that follows the newest one, which cannot be known.
  private func isKnown(_ frame: ChangeFrame) -> Bool {
    if let newest = core.graph.hashes.last, frame.follows(newest, in: memory) { return false }
    return core.graph.row(of: frame.hash) != nil
  }

  /// The order in which changes of several branches are applied, without those that are known; nil if one of them
  /// depends on a missing change.
  private func order(of frames: [ChangeFrame]) -> [Int]? {
    var hashes: [ChangeHash] = [], places: [Int] = [], deps: [[ChangeHash]] = [], index = HashIndex()
    for (place, frame) in frames.enumerated()
    where core.graph.row(of: frame.hash) == nil && index.place(of: frame.hash, in: hashes) == nil {
      guard let named = frame.deps(in: memory) else { return nil }
      hashes.append(frame.hash)
      places.append(place)
      deps.append(named)
      index.insert(place: hashes.count - 1, in: hashes)
    }
    let order = ReadyOrder.order(of: hashes, index, deps: { deps[$0] }, isKnown: { core.graph.row(of: $0) != nil })
    return order.count == hashes.count ? order.map { places[$0] } : nil
  }

  /// Applies one change that is decoded completely; false if it is not valid, and then nothing has changed.
  private func takeWhole(_ frame: ChangeFrame, edits: inout TextEditCollector?) -> Bool {
    let chunk = Chunk(kind: .change, body: Array(memory[frame.body])[...], hash: frame.hash)
    guard let change = try? ChangeDecoder.decode(chunk), gate?.refuses(change.header.actor) != true,
      change.header.deps.allSatisfy({ core.graph.row(of: $0) != nil })
    else { return false }
    do throws(LoadError) { try core.applyReady(change, edits: &edits) } catch { return false }
    return true
  }

  /// Applies one change of one run; false if it is another kind of change, and then nothing has changed.
  private mutating func takeRun(_ frame: ChangeFrame, edits: inout TextEditCollector?) -> Bool {
    // Retains the core once, not at each access.
    let core = core
    var reader = MemoryReader(UnsafeBufferPointer(rebasing: memory[frame.body]))
    guard let head = SingleRunHead(&reader, core: core), gate?.closed.contains(head.author) != true else {
      return false
    }
    let table = reader.rest, author = head.author
    guard let found = SingleRun(&reader, startOp: head.startOp, actorCount: head.other == nil ? 1 : 2),
      reader.isGood
    else { return false }
    encoder.begin(room: found.text.count)
    encoder.write(found.run, id: head.startOp, text: found.text)
    guard encoder.hasWritten(table) else { return false }
    var run = found.run
    func own(_ id: OpId) -> OpId {
      id.isZero ? .zero : OpId(counter: id.counter, actor: id.actor == 0 ? author : head.other ?? author)
    }
    (run.object, run.target) = (own(run.object), own(run.target))
    // What an operation refers to was made before it, so it has a smaller counter.
    guard run.object.counter < head.startOp, run.target.counter < head.startOp,
      Int(run.count) <= Int(UInt32.max) - Int(head.startOp),
      let tree = core.store.sequence(run.object), core.log.hasRoom(for: Int(run.count))
    else { return false }
    let id = OpId(counter: head.startOp, actor: author)
    if run.kind == .insertText {
      guard core.bytes.hasRoom(for: found.text.count), let gap = tree.gap(behind: run.target, inserting: id) else {
        return false
      }
      run.text = UInt32(core.bytes.append(found.text, actor: author))
      if edits != nil, core.store.type(of: run.object) == .makeText {
        edits?.replace(
          core.objId(run.object), at: tree.visible(before: gap)[.utf8], deleted: EmptyCollection<UInt8>(),
          inserted: found.text, followsDeleted: tree.followsDeleted(gap))
      }
      tree.insertText(at: gap, id: id, text: run.textRange, scalars: Int(run.count))
    } else {
      guard tree.holds(run.target, count: Int(run.count), step: run.step) else { return false }
      ReceivedOps(core).delete(run, id: id, in: tree, edits: &edits)
    }
    core.log.append(run, id: id)
    head.append(run, to: core)
    core.graph.appendHash(frame.hash)
    return true
  }
}

/// Which authors' changes are left out of a line of changes: those after an author's last attested change.
private struct FrameGate {
  private let filter: AuthorFilter
  private let core: DocumentCore
  /// The index of each author's last attested change.
  private var through: [ActorId: Int] = [:]
  private var place = 0
  /// The index up to which the set of left-out authors stays the same.
  private var steadyThrough = Int.max
  /// The authors that are left out now and that the document knows.
  private(set) var closed: [UInt32] = []

  init(_ filter: AuthorFilter, core: DocumentCore) { (self.filter, self.core) = (filter, core) }

  mutating func open(through frames: [ChangeFrame]) {
    for (actor, hashes) in filter.attested where !hashes.isEmpty {
      through[actor] = frames.lastIndex { hashes.contains($0.hash) }
    }
    close()
  }

  mutating func advance(to place: Int) {
    self.place = place
    if place > steadyThrough { close() }
  }

  func refuses(_ actor: ActorId) -> Bool { filter.refuses(actor) && through[actor, default: -1] < place }

  private mutating func close() {
    closed = filter.attested.keys.filter(refuses).compactMap { core.actors.find($0) }
    steadyThrough = through.values.filter { $0 >= place }.min() ?? .max
  }
}

/// The part before the columns of a change of one run, resolved against its document.
private struct SingleRunHead {
  /// The rows that the change depends on, in its own order; `dep` if there is only one.
  private var deps: [UInt32] = []
  private var dep: UInt32?
  let author: UInt32
  /// The other actor that the change names.
  private(set) var other: UInt32?
  let startOp: UInt32
  private let seq: UInt32
  private let time: Int64

  private static let maximumDepCount = 8

  /// Nil if the change does not fit the document, or has something unusual.
  init?(_ reader: inout MemoryReader, core: DocumentCore) {
    let depCount = reader.uleb()
    guard depCount > 0, depCount <= Self.maximumDepCount else { return nil }
    var greatest: UInt32 = 0
    for _ in 0..<depCount {
      guard let hash = reader.hash() else { return nil }
      let last = core.graph.count - 1
      guard let row = core.graph.hashes[last] == hash ? last : core.graph.row(of: hash) else { return nil }
      greatest = max(greatest, core.graph.records[row].maxOp)
      if depCount == 1 {
        dep = UInt32(row)
      } else {
        guard !deps.contains(UInt32(row)) else { return nil }
        deps.append(UInt32(row))
      }
    }
    let name = reader.lengthPrefixed()
    guard let author = Self.actor(name, core: core) else { return nil }
    self.author = author
    guard reader.uleb() == UInt64(core.graph.changeCount(of: author)) + 1 else { return nil }
    seq = core.graph.changeCount(of: author) + 1
    if let own = core.graph.lastRow(of: author) { greatest = max(greatest, core.graph.records[Int(own)].maxOp) }
    startOp = reader.uleb32()
    time = reader.sleb()
    guard startOp > greatest, ChangeCheck.canFollow(greatest, by: startOp, in: core), reader.uleb() == 0 else {
      return nil
    }
    let otherCount = reader.uleb()
    guard otherCount < 2 else { return nil }
    if otherCount == 1 {
      let name = reader.lengthPrefixed()
      guard let other = Self.actor(name, core: core), other != author else { return nil }
      self.other = other
    }
    guard reader.isGood else { return nil }
  }

  /// The index of an actor that the document knows.
  private static func actor(_ name: UnsafeBufferPointer<UInt8>, core: DocumentCore) -> UInt32? {
    if let last = core.graph.lastAuthor, core.actors[last].bytes.elementsEqual(name) { return last }
    guard name.count <= FormatLimits.actorByteCount else { return nil }
    return core.actors.find(ActorId(bytes: name))
  }

  func append(_ run: OpRun, to core: DocumentCore) {
    if let dep, Int(dep) == core.graph.count - 1,
      core.graph.appendToOwnHead(author: author, startOp: startOp, opCount: run.count, time: time)
    {
      return
    }
    let record = ChangeRecord(actor: author, seq: seq, startOp: startOp, opCount: run.count, time: time)
    core.graph.append(record, deps: dep.map { [$0] } ?? deps, message: nil, extra: [])
  }
}

extension TextTree {
  /// Whether `count` elements exist, from `first` on, whose counters increase or decrease by `step`.
  func holds(_ first: OpId, count: Int, step: Int) -> Bool {
    var target = first, left = count
    while left > 0 {
      guard let found = find(target) else { return false }
      left -= step > 0 ? Int(self[found.place].count) - found.element : found.element + 1
      guard left > 0 else { break }
      let next = Int(first.counter) + step * (count - left)
      guard next > 0, next <= Int(UInt32.max) else { return false }
      target.counter = UInt32(next)
    }
    return true
  }
}

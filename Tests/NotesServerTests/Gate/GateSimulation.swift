import Automerge
import TestSupport

@testable import NotesServer

/// A client that keeps the rules of the protocol, the gate, and other people, joined by two pipes that are slow at random.
///
/// Every element has an identity, so that the test can compare the gate's changes of the document with the client's
/// intention.
struct GateSimulation {
  /// What the client and the pipes may do.
  struct Manners {
    /// Full texts, regions replaced by nearly the same text, lost messages: elements then lose their identity.
    var isCoarse: Bool
    var encoding: PositionEncoding
  }

  typealias Element = ElementList.Element

  private enum ToServer {
    case change(version: Int, rev: Int, [ContentChange], [ElementList.Operation])
    case ack(version: Int, rev: Int)
    case cursor(version: Int, rev: Int, NotesServer.Position, left: Int?)
  }

  private enum ToClient {
    /// The edit, and the elements of the document when it was made.
    case edit(BufferEdit, [Element])
    case resync
  }

  let manners: Manners
  private var generator: SeededGenerator
  private var toServer: [ToServer] = []
  private var toClient: [ToClient] = []

  // The server's side.
  private(set) var document = ArrayText("")
  private(set) var buffer: OpenBuffer
  private var oracle = ElementList()

  // The client's side.
  private(set) var text: [Element] = []
  private var version = 1
  private var rev = 0
  private var batch: [ContentChange] = []
  private var operations: [ElementList.Operation] = []

  // What the simulation records.
  /// False with a coarse client, and after the document's text was replaced by the same text, which is not sent: the
  /// client's elements are then the new ones, but it does not know. Until everything has settled, only the texts are
  /// compared.
  private var knowsElements: Bool
  private var nextId = 0
  /// Scalars that were inserted only once, and whether a person deleted them.
  private var tags: [Unicode.Scalar: Bool] = [:]
  private(set) var failures: [String] = []
  private(set) var dropped = 0
  private(set) var applied = 0
  private(set) var resyncs = 0

  init(seed: UInt64, manners: Manners) {
    (self.manners, generator) = (manners, SeededGenerator(seed: seed))
    buffer = OpenBuffer(version: 1, encoding: manners.encoding)
    knowsElements = !manners.isCoarse
    let start = fresh(12)
    oracle.make(.init(left: nil, inserted: start, deleted: []))
    document = ArrayText(oracle.bytes)
    text = start
  }

  // MARK: - Steps

  mutating func step() {
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<30: type()
    case 30..<42: flush()
    case 42..<60: editRemotely()
    case 60..<80: deliverToServer()
    default: deliverToClient()
    }
  }

  /// Delivers all messages; then no message may be left to send.
  mutating func settle() {
    flush()
    send()
    while !toServer.isEmpty || !toClient.isEmpty {
      deliverToServer()
      deliverToClient()
    }
    let (theirs, ours) = (text.bytes, document.bytes)
    check(theirs == ours, "the client has \(theirs) and the document \(ours)")
    check(buffer.clientText(source: document) == document.bytes, "the gate is wrong about the client's text")
    check(buffer.clientByteCount(source: document) == document.bytes.count, "the gate miscounts the client's bytes")
    let isTaken = try? buffer.acknowledge(version: version, rev: rev)
    check(isTaken == true, "the gate refuses the last ack")
    check(buffer.clientToDocument.isIdentity, "the gate still has something to send")
    if !manners.isCoarse && !knowsElements { nameElementsAnew() }
    let scalars = String(decoding: document.bytes, as: UTF8.self).unicodeScalars
    for (tag, isDeleted) in tags where !isDeleted {
      check(scalars.count { $0 == tag } == 1, "\(tag.value) stands \(scalars.count { $0 == tag }) times")
    }
  }

  private mutating func nameElementsAnew() {
    text = documentElements.map { element in
      nextId += 1
      return Element(id: nextId, scalar: element.scalar)
    }
    oracle = ElementList()
    oracle.make(.init(left: nil, inserted: text, deleted: []))
    knowsElements = true
  }

  private mutating func check(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { failures.append(message()) }
  }

  // MARK: - The client

  private mutating func type() {
    if manners.isCoarse, Int.random(in: 0..<10, using: &generator) == 0 { return typeCoarsely() }
    let range = someRange(of: text.count)
    let isInsertion = range.isEmpty || Bool.random(using: &generator)
    let inserted = isInsertion ? fresh(Int.random(in: 1...4, using: &generator), onlyTags: !range.isEmpty) : []
    change(range, to: inserted)
  }

  /// Replaces a region by nearly the same text, as a formatter does, or a plugin that sends whole lines.
  private mutating func typeCoarsely() {
    let region = Bool.random(using: &generator) ? 0..<text.count : someRange(of: text.count)
    var new = Array(text[region])
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      let range = someRange(of: new.count)
      for element in new[range] { tags[element.scalar]? = true }
      new.replaceSubrange(range, with: fresh(Int.random(in: 0...3, using: &generator)))
    }
    if Bool.random(using: &generator) {
      change(region, to: new, deletes: false)
    } else {
      text.replaceSubrange(region, with: new)
      batch.append(.fullText(text.bytes))
    }
  }

  private mutating func change(_ range: Range<Int>, to inserted: [Element], deletes: Bool = true) {
    let source = ArrayText(text.bytes)
    let start = text[..<range.lowerBound].reduce(0) { $0 + $1.utf8Count }
    let end = text[range].reduce(start) { $0 + $1.utf8Count }
    batch.append(
      .replace(
        PositionRange(
          start: source.position(utf8Offset: start, in: manners.encoding),
          end: source.position(utf8Offset: end, in: manners.encoding)), inserted.bytes))
    operations.append(
      .init(
        left: range.lowerBound > 0 ? text[range.lowerBound - 1].id : nil, inserted: inserted,
        deleted: Set(text[range].map(\.id))))
    if deletes { for element in text[range] { tags[element.scalar]? = true } }
    text.replaceSubrange(range, with: inserted)
  }

  private mutating func flush() {
    guard !batch.isEmpty else { return }
    version += 1
    let isLost = manners.isCoarse && Int.random(in: 0..<60, using: &generator) == 0
    if !isLost { toServer.append(.change(version: version, rev: rev, batch, operations)) }
    (batch, operations) = ([], [])
    if isLost {
      // Another change must follow, or the gate could not notice the difference.
      change(0..<0, to: fresh(1))
      flush()
    }
    if Bool.random(using: &generator) { sendCursor() }
  }

  private mutating func sendCursor() {
    let place = Int.random(in: 0...text.count, using: &generator)
    let offset = text[..<place].reduce(0) { $0 + $1.utf8Count }
    toServer.append(
      .cursor(
        version: version, rev: rev, ArrayText(text.bytes).position(utf8Offset: offset, in: manners.encoding),
        left: place > 0 ? text[place - 1].id : nil))
  }

  private mutating func deliverToClient() {
    guard !toClient.isEmpty else { return }
    flush()
    switch toClient.removeFirst() {
    case .resync:
      resyncs += 1
      version += 1
      toServer.append(.change(version: version, rev: rev, [.fullText(text.bytes)], []))
    case .edit(let edit, let elements):
      guard edit.version == version else {
        dropped += 1
        return
      }
      applied += 1
      rev = edit.rev
      apply(edit, elements)
      if Bool.random(using: &generator) { toServer.append(.ack(version: version, rev: rev)) }
    }
  }

  private mutating func apply(_ edit: BufferEdit, _ elements: [Element]) {
    let before = ArrayText(text.bytes)
    var after = before.bytes
    var last = before.bytes.count + 1
    for replacement in edit.edits.reversed() {
      let start = before.utf8Offset(of: replacement.range.start, in: manners.encoding)
      let end = before.utf8Offset(of: replacement.range.end, in: manners.encoding)
      check(start <= end && end < last, "edits overlap or touch: \(edit)")
      check(start < end || !replacement.newText.isEmpty, "an edit does nothing")
      check(
        before.position(utf8Offset: start, in: manners.encoding) == replacement.range.start
          && before.position(utf8Offset: end, in: manners.encoding) == replacement.range.end,
        "a range does not name places of the text")
      after.replaceSubrange(start..<end, with: replacement.newText)
      last = start
    }
    check(after.count == edit.bytes, "bytes is \(edit.bytes), the client has \(after.count)")
    check(after == elements.bytes, "the client's text is not the document's of then")
    text = elements
  }

  // MARK: - The server

  private mutating func deliverToServer() {
    guard !toServer.isEmpty else { return }
    switch toServer.removeFirst() {
    case .ack(let version, let rev):
      do { try buffer.acknowledge(version: version, rev: rev) } catch { toClient.append(.resync) }
    case .cursor(let version, let rev, let position, let left):
      do {
        guard try buffer.acknowledge(version: version, rev: rev) else { return }
        let offset = buffer.documentOffset(ofClient: position, source: document)
        check((0...document.bytes.count).contains(offset), "a cursor is off the text")
        if knowsElements { check(offset == oracle.utf8Offset(after: left), "a cursor is elsewhere") }
      } catch { toClient.append(.resync) }
    case .change(let version, let rev, let changes, let operations):
      switch buffer.didChange(version: version, rev: rev, changes: changes, source: document) {
      case .ignored: break
      case .resync: toClient.append(.resync)
      case .splices(let splices):
        document.make(splices)
        if knowsElements {
          for operation in operations { oracle.make(operation) }
          check(document.bytes == oracle.bytes, "the change landed elsewhere than its elements say")
        }
      }
      send()
    }
  }

  private mutating func editRemotely() {
    let elements = documentElements
    var splices: [TextSplice] = []
    var current = elements
    for _ in 0..<Int.random(in: 1...2, using: &generator) {
      let range = someRange(of: current.count)
      let inserted =
        range.isEmpty || Bool.random(using: &generator) ? fresh(Int.random(in: 1...4, using: &generator)) : []
      for element in current[range] { tags[element.scalar]? = true }
      splices.append(
        TextSplice(
          utf8Offset: current[..<range.lowerBound].reduce(0) { $0 + $1.utf8Count },
          deleteUTF8: current[range].reduce(0) { $0 + $1.utf8Count }, insert: inserted.bytes))
      oracle.make(
        .init(
          left: range.lowerBound > 0 ? current[range.lowerBound - 1].id : nil, inserted: inserted,
          deleted: Set(current[range].map(\.id))))
      current.replaceSubrange(range, with: inserted)
    }
    buffer.documentChanged(document.make(splices))
    if Int.random(in: 0..<4, using: &generator) > 0 { send() }
  }

  private mutating func send() {
    let isComplete = buffer.unsent.isIdentity || buffer.awaitsFullText
    if let edit = buffer.pendingEdit(source: document) {
      toClient.append(.edit(edit, documentElements))
    } else if !isComplete {
      knowsElements = false
    }
  }

  private var documentElements: [Element] {
    if knowsElements { return oracle.visible }
    return String(decoding: document.bytes, as: UTF8.self).unicodeScalars.map { Element(id: 0, scalar: $0) }
  }

  // MARK: - Chance

  private static let common: [Unicode.Scalar] = ["a", "b", " ", "\n", "\u{301}", "é", "😀", "\u{200D}"]

  /// New elements, some of them tags, which occur nowhere else.
  private mutating func fresh(_ count: Int, onlyTags: Bool = false) -> [Element] {
    (0..<count).map { _ in
      nextId += 1
      let base: UInt32 = nextId % 2 == 0 ? 0x4E00 : 0x20000
      if onlyTags || Bool.random(using: &generator), let tag = Unicode.Scalar(base + UInt32(nextId)) {
        tags[tag] = false
        return Element(id: nextId, scalar: tag)
      }
      return Element(id: nextId, scalar: Self.common[Int.random(in: 0..<Self.common.count, using: &generator)])
    }
  }

  /// A range, usually short and often empty.
  private mutating func someRange(of count: Int) -> Range<Int> {
    let start = Int.random(in: 0...count, using: &generator)
    let length = [0, 0, 0, 1, 1, 2, 5, 20][Int.random(in: 0..<8, using: &generator)]
    return start..<min(count, start + length)
  }
}

/// Consecutive operations of one author that form one act: typed text, a stretch deleted, or a single other operation.
struct OpRun: BitwiseCopyable {
  enum Kind: UInt8, BitwiseCopyable { case insertText, deleteForward, deleteBackward, other }

  var object: OpId
  /// For an insertion, what its first element follows; for a deletion, the first deleted element.
  var target: OpId
  var count: UInt32
  /// Where the UTF-8 of an insertion begins; for another operation, its index among those.
  var text: UInt32
  var byteCount: UInt32
  var kind: Kind

  static func insertion(object: OpId, behind reference: OpId, count: Int, text: Int, byteCount: Int) -> OpRun {
    OpRun(
      object: object, target: reference, count: UInt32(count), text: UInt32(text), byteCount: UInt32(byteCount),
      kind: .insertText)
  }

  static func deletion(object: OpId, from target: OpId, count: Int, step: Int) -> OpRun {
    OpRun(
      object: object, target: target, count: UInt32(count), text: 0, byteCount: 0,
      kind: step < 0 ? .deleteBackward : .deleteForward)
  }

  static func other(object: OpId, index: Int) -> OpRun {
    OpRun(object: object, target: .zero, count: 1, text: UInt32(index), byteCount: 0, kind: .other)
  }

  var step: Int { kind == .deleteBackward ? -1 : 1 }
  var textRange: Range<Int> { Int(text)..<Int(text) + Int(byteCount) }

  /// Appends the run that follows directly, if both together are one act. `id` is this run's first operation.
  mutating func merge(_ next: OpRun, id: OpId) -> Bool {
    guard object == next.object else { return false }
    switch (kind, next.kind) {
    case (.insertText, .insertText):
      guard next.target == id.advanced(by: Int(count) - 1), next.text == text + byteCount else { return false }
      byteCount += next.byteCount
    case (.deleteForward, .deleteForward), (.deleteForward, .deleteBackward), (.deleteBackward, .deleteForward),
      (.deleteBackward, .deleteBackward):
      guard target.actor == next.target.actor else { return false }
      let from = Int(target.counter), to = Int(next.target.counter)
      if to == from + Int(count), step > 0 || count == 1, next.step > 0 || next.count == 1 {
        kind = .deleteForward
      } else if to == from - Int(count), step < 0 || count == 1, next.step < 0 || next.count == 1 {
        kind = .deleteBackward
      } else {
        return false
      }
    case (.insertText, _), (.deleteForward, _), (.deleteBackward, _), (.other, _):
      return false
    }
    count += next.count
    return true
  }

  /// Removes and returns the first `count` operations. `id` is the run's first operation.
  mutating func takePrefix(_ taken: Int, id: OpId, text bytes: TextBytes) -> OpRun {
    var first = self
    first.count = UInt32(taken)
    count -= UInt32(taken)
    switch kind {
    case .insertText:
      let length =
        byteCount == first.count + count ? taken : bytes.advance(Int(text), scalars: taken) - Int(text)
      first.byteCount = UInt32(length)
      byteCount -= UInt32(length)
      text += UInt32(length)
      target = id.advanced(by: taken - 1)
    case .deleteForward, .deleteBackward:
      target = target.advanced(by: step * taken)
    case .other: break
    }
    return first
  }
}

/// An operation that is neither typed text nor the deletion of a plain element.
struct OtherOp {
  enum Key: Equatable {
    case map(MapKey)
    /// An element, or zero for the head of a sequence.
    case element(OpId)
  }

  var object: OpId
  var key: Key
  var isInsert: Bool
  var action: OpAction
  var value: RawValue
  var expand = false
  var markName: String?
  /// Ascending.
  var predecessors: [OpId]

  /// How many half kilobytes of memory it takes, at least one: a new object has room for its first elements.
  var weight: Int { (action.makesObject ? 5 : 1) + predecessors.count / 16 }
}

/// The storage that runs of operations point into.
protocol OpSource {
  var others: [OtherOp] { get }
  /// UTF-8 that insertions point into.
  var text: [UInt8] { get }
  /// The actors that the actor of an `OpId` is an index into.
  var actorList: [ActorId] { get }
}

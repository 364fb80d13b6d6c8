import Foundation
import Synchronization

/// A number that several people count up and down at once, as a property of a model.
///
/// Made by itself it counts for itself. Encoded into a document, or bound to a counter there, it is that counter from then on:
/// setting `value` increments the document's counter by the difference, so that no one's counting is lost. In a list it stays
/// with its element when others are inserted or deleted. One that was decoded is bound already. Safe to use from several
/// threads.
public final class Counter: Codable, Sendable {
  private enum State {
    case unbound(Int)
    /// Keeps the last value that was read, for when the counter is deleted.
    case bound(Document, ValuePlace, last: Int)
  }

  /// Never held while a document is asked, so that the two cannot wait for one another.
  private let state: Mutex<State>
  private let readers = ValueUpdates<Int>()

  /// A counter that is in no document yet.
  public init(_ initialValue: Int = 0) {
    state = Mutex(.unbound(initialValue))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// A counter bound to a path, as by `bind(doc:path:)`.
  public convenience init(_ initialValue: Int = 0, doc: Document, path: String) throws {
    self.init(initialValue)
    try bind(doc: doc, path: path)
  }

  /// The counter at a key or index of an object. Throws `BindingError.NotCounter` if there is none.
  public convenience init(doc: Document, objId: ObjId, key: any CodingKey) throws {
    self.init()
    try bind(to: doc, objId, AnyCodingKey(key))
  }

  private enum CodingKeys: String, CodingKey { case value }

  /// Unbound, from a decoder other than a document's.
  public required init(from decoder: any Decoder) throws {
    let value = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .value)
    state = Mutex(.unbound(value))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// The number alone, to an encoder other than a document's.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(value, forKey: .value)
  }

  /// Whether the counter is one of a document.
  public var isBound: Bool { target != nil }

  /// The number. Of a bound counter that has been deleted, the last that was read.
  ///
  /// Setting it on a bound counter adds the difference. If the counter was deleted, nothing happens; `add(_:)` says so.
  public var value: Int {
    get {
      let state = state.withLock { $0 }
      switch state {
      case .unbound(let value): return value
      case .bound(let document, let place, let last):
        guard let value = document.counter(at: place).map({ Int(clamping: $0) }) else { return last }
        self.state.withLock { state in
          guard case .bound(let now, place, _) = state, now === document else { return }
          state = .bound(document, place, last: value)
        }
        return value
      }
    }
    set {
      let difference = newValue.subtractingReportingOverflow(value)
      if !difference.overflow { increment(by: difference.partialValue) }
    }
  }

  /// Adds to the number, a negative `value` too. Does nothing if the counter was deleted or would overflow.
  public func increment(by value: Int) { try? add(value) }

  /// As `increment(by:)`. Throws `BindingError.NotCounter` if the counter was deleted, `DocError` if the sum overflows or
  /// the document refuses.
  public func add(_ value: Int) throws {
    let target = try state.withLock { state -> (document: Document, place: ValuePlace)? in
      switch state {
      case .bound(let document, let place, _): return (document, place)
      case .unbound(let present):
        let (sum, overflows) = present.addingReportingOverflow(value)
        guard !overflows else { throw DocError.invalidValue }
        state = .unbound(sum)
        return nil
      }
    }
    guard let (document, place) = target else { return readers.changed(to: self.value) }
    guard let present = document.counter(at: place) else { throw BindingError.NotCounter }
    guard !present.addingReportingOverflow(Int64(value)).overflow else { throw DocError.invalidValue }
    if value == 0 { return }
    try document.editBound { (core) throws(DocError) in try core.increment(at: place, by: Int64(value)) }
  }

  /// Yields one element after each change of the number, by any replica, until the counter is deleted. Changes that come while
  /// no element is awaited are reported once. Every call gives a sequence of its own, which may be read on any thread.
  public func updates() -> AsyncStream<Void> {
    let updates = readers.add(value)
    listen()
    return updates
  }

  /// Calls `body` after the number changed, on the thread that changed it.
  func onUpdate(_ body: @escaping @Sendable () -> Void) {
    readers.add(value, body)
    listen()
  }

  /// Has the document, if there is one, tell of its changes.
  private func listen() {
    guard let (document, place) = target, !readers.isEmpty else { return }
    readers.listen(to: document) { [weak document] in
      document?.counter(at: place).map { Int(clamping: $0) }
    }
    readers.changed(to: value)
  }

  /// Binds the counter to one that stands at a path such as `ballot.votes`. What this one counted so far is added there.
  ///
  /// Throws `PathParseError`, `CodingKeyLookupError`, or `BindingError.NotCounter` if there is no counter.
  public func bind(doc: Document, path: String) throws {
    let steps = try AnyCodingKey.parsePath(path)
    guard let last = steps.last else { throw BindingError.InvalidPath(path) }
    let container = try doc.retrieveObjectId(path: steps, containerType: .Value, strategy: .readonly).get()
    try bind(to: doc, container, last)
  }

  private func bind(to document: Document, _ object: ObjId, _ key: AnyCodingKey) throws {
    guard let place = try document.place(in: object, at: key), let present = document.counter(at: place) else {
      throw BindingError.NotCounter
    }
    let counted = state.withLock { state -> Int in
      guard case .unbound(let counted) = state else { return 0 }
      return counted
    }
    if counted != 0 { try document.withCore { try $0.increment(at: place, by: Int64(counted)) } }
    state.withLock { $0 = .bound(document, place, last: Int(clamping: present)) }
    listen()
  }

  private var target: (document: Document, place: ValuePlace)? {
    state.withLock { state in
      guard case .bound(let document, let place, _) = state else { return nil }
      return (document, place)
    }
  }

  /// Where the counter stands, if it is one of this document.
  func place(in document: Document) -> ValuePlace? {
    guard let target, target.document === document else { return nil }
    return target.place
  }

  /// Binds an unbound counter to where its value has just been written.
  func bindUnbound(to document: Document, _ place: ValuePlace) {
    state.withLock { state in
      guard case .unbound(let value) = state else { return }
      state = .bound(document, place, last: value)
    }
    listen()
  }
}

extension Counter: Hashable {
  /// Counters are equal that hold the same number, bound or not.
  public static func == (left: Counter, right: Counter) -> Bool { left.value == right.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension Counter: CustomStringConvertible {
  public var description: String { String(value) }
}

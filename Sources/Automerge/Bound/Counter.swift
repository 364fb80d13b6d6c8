import Foundation
import Synchronization

/// A number that several people increase and decrease at once, as a property of a model.
///
/// An unbound counter counts on its own. Once it is encoded into a document, or bound to a counter there, it is that
/// counter: setting `value` adds the difference to the document's counter, so that no increment of another person is
/// lost. In a list it stays with its element when others are inserted or deleted. A decoded counter is bound already.
/// Safe to use from several threads.
public final class Counter: Codable, Sendable {
  private enum State {
    case unbound(Int)
    /// With the last value that was read, for when the counter is deleted.
    case bound(Document, ValuePlace, last: Int)
  }

  /// Never locked while the document is called, so that the two locks cannot deadlock.
  private let state: Mutex<State>
  private let readers = ValueUpdates<Int>()

  /// A counter that belongs to no document yet.
  public init(_ initialValue: Int = 0) {
    state = Mutex(.unbound(initialValue))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// A counter bound to a path, as `bind(doc:path:)` does it.
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

  /// Decodes an unbound counter, from a decoder other than a document's.
  public required init(from decoder: any Decoder) throws {
    let value = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .value)
    state = Mutex(.unbound(value))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// Encodes the number alone, to an encoder other than a document's.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(value, forKey: .value)
  }

  /// Whether the counter belongs to a document.
  public var isBound: Bool { target != nil }

  /// The number. After a bound counter was deleted, the last number that was read.
  ///
  /// Setting it on a bound counter adds the difference. If the counter was deleted, this does nothing; `add(_:)`
  /// throws.
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

  /// Adds to the number; `value` may be negative. Does nothing if the counter was deleted or would overflow.
  public func increment(by value: Int) { try? add(value) }

  /// Like `increment(by:)`. Throws `BindingError.NotCounter` if the counter was deleted, `DocError` if the sum overflows or
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
    guard let present = Self.present(at: place, in: document) else { throw BindingError.NotCounter }
    guard !present.addingReportingOverflow(Int64(value)).overflow else { throw DocError.invalidValue }
    if value == 0 { return }
    try document.editBound { (core) throws(DocError) in try core.increment(at: place, by: Int64(value)) }
  }

  /// Yields one element after each change of the number, by any replica, until the counter is deleted. Changes that
  /// come while no element is awaited are reported as one. Every call returns a sequence of its own, which may be read
  /// on any thread.
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

  /// Subscribes to the changes of the document, if the counter is bound.
  private func listen() {
    guard let (document, place) = target, !readers.isEmpty else { return }
    readers.listen(to: document) { [weak document] in
      document.flatMap { Self.present(at: place, in: $0) }.map { Int(clamping: $0) }
    }
    readers.changed(to: value)
  }

  /// Nil if the counter, or what contains it, was deleted.
  private static func present(at place: ValuePlace, in document: Document) -> Int64? {
    document.withCore { BoundObject(place.object, in: $0).isGone } ? nil : document.counter(at: place)
  }

  /// Binds the counter to the document's counter at a path such as `ballot.votes`, and adds to it what this one has
  /// counted so far.
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
      defer { state = .bound(document, place, last: Int(clamping: present)) }
      guard case .unbound(let counted) = state else { return 0 }
      return counted
    }
    if counted != 0 { try document.withCore { try $0.increment(at: place, by: Int64(counted)) } }
    listen()
  }

  private var target: (document: Document, place: ValuePlace)? {
    state.withLock { state in
      guard case .bound(let document, let place, _) = state else { return nil }
      return (document, place)
    }
  }

  /// The counter's place, if it belongs to this document.
  func place(in document: Document) -> ValuePlace? {
    guard let target, target.document === document else { return nil }
    return target.place
  }

  /// Binds an unbound counter to the place where `number`, which it had a moment ago, has just been written. Adds to it what
  /// another thread has added to this one since.
  func bindUnbound(to document: Document, _ place: ValuePlace, holding number: Int) throws {
    let added = state.withLock { state -> Int in
      guard case .unbound(let value) = state else { return 0 }
      state = .bound(document, place, last: value)
      return value.subtractingReportingOverflow(number).partialValue
    }
    if added != 0 { try document.withCore { try $0.increment(at: place, by: Int64(added)) } }
    listen()
  }
}

extension Counter: Hashable {
  /// Counters are equal if they hold the same number, bound or not.
  public static func == (left: Counter, right: Counter) -> Bool { left.value == right.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension Counter: CustomStringConvertible {
  public var description: String { String(value) }
}

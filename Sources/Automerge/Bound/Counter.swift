import Foundation
import Synchronization

/// A number that several people count up and down at once, as a property of a model.
///
/// Made by itself it counts for itself. Encoded at a key of a document, or bound to a counter there, it is that counter
/// from then on: setting `value` increments the document's counter by the difference, so that no one's counting is lost.
/// One that was decoded is bound already. Safe to use from several threads.
public final class Counter: Codable, Sendable {
  private enum State {
    case unbound(Int)
    /// Keeps the last value that was read, for when the counter is deleted.
    case bound(Place, last: Int)
  }

  private struct Place {
    let document: Document
    let object: ObjId
    let key: AnyCodingKey

    /// Nil if no counter stands there.
    var value: Int64? {
      guard case .Scalar(.Counter(let value))? = try? document.value(in: object, at: key) else { return nil }
      return value
    }
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
    try bind(to: Place(document: doc, object: objId, key: AnyCodingKey(key)))
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
  public var isBound: Bool { place != nil }

  /// The number. Of a bound counter that has been deleted, the last that was read.
  ///
  /// Setting it on a bound counter adds the difference. If the counter was deleted, nothing happens; `add(_:)` says so.
  public var value: Int {
    get {
      let state = state.withLock { $0 }
      switch state {
      case .unbound(let value): return value
      case .bound(let place, let last):
        guard let value = place.value.map({ Int(clamping: $0) }) else { return last }
        self.state.withLock { state in
          if case .bound = state { state = .bound(place, last: value) }
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
    let place = try state.withLock { state -> Place? in
      switch state {
      case .bound(let place, _): return place
      case .unbound(let present):
        let (sum, overflows) = present.addingReportingOverflow(value)
        guard !overflows else { throw DocError.invalidValue }
        state = .unbound(sum)
        return nil
      }
    }
    guard let place else { return readers.changed(to: self.value) }
    guard let present = place.value else { throw BindingError.NotCounter }
    guard !present.addingReportingOverflow(Int64(value)).overflow else { throw DocError.invalidValue }
    if value == 0 { return }
    let (object, key, encoding) = (place.object, place.key, place.document.textEncoding)
    try place.document.editBound { (core) throws(DocError) in
      if let index = key.intValue {
        try core.increment(object, index: index, unit: core.unit(of: object, encoding), by: Int64(value))
      } else {
        try core.increment(object, key: key.stringValue, by: Int64(value))
      }
    }
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
    guard let place, !readers.isEmpty else { return }
    let (object, key) = (place.object, place.key)
    readers.listen(to: place.document) { [weak document = place.document] in
      document.flatMap { Place(document: $0, object: object, key: key).value }.map { Int(clamping: $0) }
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
    try bind(to: Place(document: doc, object: container, key: last))
  }

  private func bind(to place: Place) throws {
    guard let present = place.value else { throw BindingError.NotCounter }
    let counted = state.withLock { state -> Int in
      guard case .unbound(let counted) = state else { return 0 }
      return counted
    }
    if counted != 0 { try place.document.increment(in: place.object, at: place.key, by: Int64(counted)) }
    state.withLock { $0 = .bound(place, last: Int(clamping: present)) }
    listen()
  }

  private var place: Place? {
    state.withLock { state in
      guard case .bound(let place, _) = state else { return nil }
      return place
    }
  }

  func isBound(to document: Document, _ object: ObjId, _ key: AnyCodingKey) -> Bool {
    guard let place else { return false }
    return place.document === document && place.object == object && place.key == key && place.value != nil
  }

  /// Binds an unbound counter to where its value has just been written.
  func bindUnbound(to document: Document, _ object: ObjId, _ key: AnyCodingKey) {
    state.withLock { state in
      guard case .unbound(let value) = state else { return }
      state = .bound(Place(document: document, object: object, key: key), last: value)
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

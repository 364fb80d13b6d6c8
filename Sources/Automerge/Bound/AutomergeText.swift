import Foundation
import Synchronization

/// A text that several people edit, as a property of a model.
///
/// Made by itself it holds a string of its own. Encoded into a document, or bound to a place there, it is that document's
/// text from then on: reading `value` reads the document, setting it writes the difference to the document. One that was
/// decoded is bound already. Safe to use from several threads.
public final class AutomergeText: Codable, Sendable {
  private enum State {
    case unbound(String)
    case bound(Document, ObjId)
  }

  /// Never held while a document is asked, so that the two cannot wait for one another.
  private let state: Mutex<State>
  private let readers = ValueUpdates<String>()

  /// A text that is in no document yet.
  public init(_ initialValue: String = "") {
    state = Mutex(.unbound(initialValue))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// A text bound to a path, as by `bind(doc:path:)`.
  public convenience init(_ initialValue: String = "", doc: Document, path: String) throws {
    self.init(initialValue)
    try bind(doc: doc, path: path)
  }

  /// The text that is an object of a document. Throws `BindingError.NotText` if that is none.
  public convenience init(doc: Document, objId: ObjId) throws {
    self.init()
    try bind(doc: doc, id: objId)
  }

  public enum CodingKeys: String, CodingKey { case value }

  /// Unbound, from a decoder other than a document's.
  public required init(from decoder: any Decoder) throws {
    let value = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .value)
    state = Mutex(.unbound(value))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// The string alone, to an encoder other than a document's.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(value, forKey: .value)
  }

  /// Whether the text is one of a document.
  public var isBound: Bool { target != nil }

  /// The string: the document's if the text is bound, else its own.
  ///
  /// Setting it on a bound text writes the difference. A document that is full refuses, and stays as it is; `update(to:)`
  /// says so.
  public var value: String {
    get {
      let state = state.withLock { $0 }
      switch state {
      case .unbound(let string): return string
      case .bound(let document, let object): return (try? document.text(obj: object)) ?? ""
      }
    }
    set { try? update(to: newValue) }
  }

  /// Makes the text this string, with the smallest edit that does. Throws `DocError` if the document refuses.
  public func update(to newValue: String) throws {
    let target = state.withLock { state -> (Document, ObjId)? in
      switch state {
      case .bound(let document, let object): return (document, object)
      case .unbound:
        state = .unbound(newValue)
        return nil
      }
    }
    if let (document, object) = target {
      let asClusters = document.textEncoding == .graphemeCluster
      try document.editBound { (core) throws(DocError) in
        try core.updateText(object, newValue, asClusters: asClusters)
      }
    } else {
      readers.changed(to: newValue)
    }
  }

  /// Yields one element after each change of the string, by any replica, until the text is deleted. Changes that come while no
  /// element is awaited are reported once. Every call gives a sequence of its own, which may be read on any thread.
  /// - Complexity: while a sequence is read, every change of the document costs O(n) in the string.
  public func updates() -> AsyncStream<Void> {
    let updates = readers.add(value)
    listen()
    return updates
  }

  /// Calls `body` after the string changed, on the thread that changed it.
  func onUpdate(_ body: @escaping @Sendable () -> Void) {
    readers.add(value, body)
    listen()
  }

  /// Has the document, if there is one, tell of its changes.
  private func listen() {
    guard let (document, object) = target, !readers.isEmpty else { return }
    readers.listen(to: document) { [weak document] in document.flatMap { try? $0.text(obj: object) } }
    readers.changed(to: value)
  }

  /// Binds the text to a path such as `notes.[2].body`. A text that stands there becomes this one's value, unless this one
  /// has a string of its own, which then is written; where nothing stands, a text is made.
  ///
  /// Throws `PathParseError`, `BindingError` or `CodingKeyLookupError` if no text can be there.
  public func bind(doc: Document, path: String) throws {
    let steps = try AnyCodingKey.parsePath(path)
    guard let last = steps.last, steps.first?.index == nil else { throw BindingError.InvalidPath(path) }
    let container = try doc.retrieveObjectId(path: steps, containerType: .Value, strategy: .createWhenNeeded).get()
    switch try doc.value(in: container, at: last) {
    case .Object(let object, .Text): try attach(to: doc, object)
    case nil, .Scalar(.Null):
      if let index = last.index, index > doc.length(obj: container) { throw BindingError.InvalidPath(path) }
      try write(nil, to: doc, object: try doc.makeObject(.Text, in: container, at: last))
    case .some: throw BindingError.NotText
    }
  }

  /// Binds the text to an object. If it has a string of its own, that is written. Throws `BindingError.NotText`.
  public func bind(doc: Document, id: ObjId) throws {
    guard doc.objectType(obj: id) == .Text else { throw BindingError.NotText }
    try attach(to: doc, id)
  }

  private var target: (document: Document, object: ObjId)? {
    state.withLock { state in
      guard case .bound(let document, let object) = state else { return nil }
      return (document, object)
    }
  }

  /// The object, if the text is one of this document.
  func object(in document: Document) -> ObjId? {
    guard let target, target.document === document else { return nil }
    return target.object
  }

  /// Writes a string that was this one's, or this one's as it is, to a text object; an unbound text is that object from then on.
  func write(_ string: String?, to document: Document, object: ObjId) throws {
    try document.updateText(obj: object, value: string ?? value)
    bindUnbound(to: document, object)
  }

  /// Makes this the text of an object, with the string of this one, if it has one, or else that of the object.
  private func attach(to document: Document, _ object: ObjId) throws {
    if !isBound, !value.isEmpty { try document.updateText(obj: object, value: value) }
    state.withLock { $0 = .bound(document, object) }
    listen()
  }

  private func bindUnbound(to document: Document, _ object: ObjId) {
    state.withLock { state in
      if case .unbound = state { state = .bound(document, object) }
    }
    listen()
  }
}

extension AutomergeText: Hashable {
  /// Texts are equal that hold the same string, bound or not.
  public static func == (left: AutomergeText, right: AutomergeText) -> Bool { left.value == right.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension AutomergeText: CustomStringConvertible {
  public var description: String { value }
}

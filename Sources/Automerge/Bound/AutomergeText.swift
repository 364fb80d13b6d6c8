import Foundation
import Synchronization

/// A text that several people edit, as a property of a model.
///
/// An unbound text holds a string of its own. Once it is encoded into a document, or bound to a place there, it is that
/// document's text: reading `value` reads the document, and setting it writes the difference to the document. A decoded
/// text is bound already. Safe to use from several threads.
public final class AutomergeText: Codable, Sendable {
  private enum State {
    case unbound(String)
    case bound(Document, ObjId)
  }

  /// Never locked while the document is called, so that the two locks cannot deadlock.
  private let state: Mutex<State>
  private let readers = ValueUpdates<String>()

  /// A text that belongs to no document yet.
  public init(_ initialValue: String = "") {
    state = Mutex(.unbound(initialValue))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// A text bound to a path, as `bind(doc:path:)` does it.
  public convenience init(_ initialValue: String = "", doc: Document, path: String) throws {
    self.init(initialValue)
    try bind(doc: doc, path: path)
  }

  /// The text that is the given object of a document. Throws `BindingError.NotText` if the object is no text.
  public convenience init(doc: Document, objId: ObjId) throws {
    self.init()
    try bind(doc: doc, id: objId)
  }

  public enum CodingKeys: String, CodingKey { case value }

  /// Decodes an unbound text, from a decoder other than a document's.
  public required init(from decoder: any Decoder) throws {
    let value = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .value)
    state = Mutex(.unbound(value))
    #if canImport(Combine)
      startPublishing()
    #endif
  }

  /// Encodes the string alone, to an encoder other than a document's.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(value, forKey: .value)
  }

  /// Whether the text belongs to a document.
  public var isBound: Bool { target != nil }

  /// The string: the document's if the text is bound, else its own.
  ///
  /// Setting it on a bound text writes the difference. A document that is full, or in which the text was deleted, stays as
  /// it is, without an error; `update(to:)` throws one.
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

  /// Changes the string to `newValue` with the smallest possible edit. Throws `DocError` if the document refuses;
  /// `unknownObject` if the text was deleted.
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
        guard !BoundObject(object, in: core).isGone else { throw .unknownObject(object) }
        try core.updateText(object, newValue, asClusters: asClusters)
      }
    } else {
      readers.changed(to: newValue)
    }
  }

  /// Yields one element after each change of the string, by any replica, until the text is deleted. Changes that come
  /// while no element is awaited are reported as one. Every call returns a sequence of its own, which may be read on
  /// any thread.
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

  /// Subscribes to the changes of the document, if the text is bound.
  private func listen() {
    guard let (document, object) = target, !readers.isEmpty else { return }
    readers.listen(to: document) { [weak document] in
      document.flatMap { $0.withCore { BoundObject(object, in: $0).isGone } ? nil : try? $0.text(obj: object) }
    }
    readers.changed(to: value)
  }

  /// Binds the text to a path such as `notes.[2].body`. If this text has a string of its own, writes it there;
  /// otherwise takes over the text that is there. Makes a text if the place is empty.
  ///
  /// Throws `PathParseError`, `BindingError` or `CodingKeyLookupError` if the path cannot hold a text.
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

  /// Binds the text to an object. If the text has a string of its own, writes it there. Throws `BindingError.NotText`.
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

  /// The object, if the text belongs to this document.
  func object(in document: Document) -> ObjId? {
    guard let target, target.document === document else { return nil }
    return target.object
  }

  /// Writes `string`, or this text's present string, to a text object. An unbound text is bound to that object.
  func write(_ string: String?, to document: Document, object: ObjId) throws {
    let written = string ?? value
    try document.updateText(obj: object, value: written)
    try bind(to: document, object, holding: written, rebinds: false)
  }

  /// Binds this to an object. Writes this text's string there if it has one; otherwise takes over the object's.
  private func attach(to document: Document, _ object: ObjId) throws {
    try bind(to: document, object, holding: "", rebinds: true)
  }

  /// Binds an unbound text to an object, and writes its string there, if that is no longer the one that the object has of it:
  /// another thread may have set it meanwhile.
  ///
  /// - Parameter rebinds: whether to bind a text anew that is bound already.
  private func bind(to document: Document, _ object: ObjId, holding written: String, rebinds: Bool) throws {
    let string = state.withLock { state -> String? in
      guard case .unbound(let string) = state else {
        if rebinds { state = .bound(document, object) }
        return nil
      }
      state = .bound(document, object)
      return string
    }
    if let string, string != written { try document.updateText(obj: object, value: string) }
    listen()
  }
}

extension AutomergeText: Hashable {
  /// Texts are equal if they hold the same string, bound or not.
  public static func == (left: AutomergeText, right: AutomergeText) -> Bool { left.value == right.value }

  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension AutomergeText: CustomStringConvertible {
  public var description: String { value }
}

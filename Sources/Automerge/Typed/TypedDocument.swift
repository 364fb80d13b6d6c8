import Foundation

/// A document that is one `Codable` value: changed as a value, stored and merged as a document.
///
///     var pets = try TypedDocument(Pets(names: ["Fido"]))
///     try pets.change(message: "a cat") { $0.names.append("Tom") }
///
/// It is copied like a value: after `var copy = pets`, changing one of the two leaves the other as it is, and both can
/// be merged again. Only a value made with `init(document:)` stays that ``Document`` however often it is copied.
///
/// The texts and counters of a `content` belong to the document that it was read from. If copies share a document, the
/// copy that is changed first leaves the document to the others: read its `content` again.
public struct TypedDocument<Model: Codable>: Sendable {
  /// Holds the document, which copies share until one of them changes.
  private final class Storage: Sendable {
    let document: Document

    init(_ document: Document) { self.document = document }
  }

  private var storage: Storage
  /// Whether another owner holds the document and must see all changes.
  private let isView: Bool

  /// The document. Changing it directly changes this value and the copies that still share it: those since whose making
  /// neither has been changed.
  public var document: Document { storage.document }

  private init(own document: Document, actor: ActorId?) {
    if let actor { document.actor = actor }
    (storage, isView) = (Storage(document), false)
  }

  /// A new document with the content `model`, in one change.
  /// - Parameter actor: the actor of its changes, which no other copy of the document may use. A random one if nil.
  public init(
    _ model: Model, actor: ActorId? = nil, message: String? = "Initialization", timestamp: Date = Date()
  ) throws {
    self.init(own: Document(), actor: actor)
    try AutomergeEncoder(doc: document).encode(model)
    document.commitWith(message: message, timestamp: timestamp)
  }

  /// A document as it is; its content need not be a `Model` yet. Changes of this value, and of its copies, change that
  /// document.
  public init(document: Document) { (storage, isView) = (Storage(document), true) }

  /// Loads a saved document. Throws `LoadError`.
  /// - Parameter actor: the actor of its changes from now on; a random one if nil
  public init(_ bytes: Data, actor: ActorId? = nil) throws { self.init(own: try Document(bytes), actor: actor) }

  /// A document made from changes, as `changes(between:)` returns them. Throws `LoadError`.
  /// - Parameter actor: the actor of its changes from now on; a random one if nil
  public init(changes: [Data], actor: ActorId? = nil) throws {
    self.init(own: Document(), actor: actor)
    try apply(changes: changes)
  }

  /// Gives this value a document of its own, with a new actor, before it is changed, if copies share the present one.
  /// - Complexity: O(n) in the history, if copies share it
  private mutating func own() {
    guard !isView, !isKnownUniquelyReferenced(&storage) else { return }
    storage = Storage(document.fork())
  }

  /// The actor of the document's changes.
  public var actor: ActorId { document.actor }

  /// The document's present content. Throws what `AutomergeDecoder` throws if it is not a `Model`.
  /// - Complexity: O(n) in the content
  public var content: Model {
    get throws { try AutomergeDecoder(doc: document).decode(Model.self) }
  }

  /// Changes the value, and commits the difference as one change. Returns its hash, or nil if there is no difference.
  ///
  /// Texts and counters of the model are bound to the document and written as they are changed. A single value in a
  /// conflict wins permanently, since it is written again with all others. If `body` or the encoder throws, what they
  /// wrote is reverted by another change; changes made to the document itself stay.
  ///
  /// Other threads that use the document wait until the change is made, so `body` must not wait for them.
  /// - Complexity: O(n) in the content
  @discardableResult
  public mutating func change(
    message: String? = nil, timestamp: Date = Date(), _ body: (inout Model) throws -> Void
  ) throws -> ChangeHash? {
    own()
    let document = document
    return try document.withoutOtherThreads {
      var model = try content
      let before = document.heads()
      let edits = BoundEdits(of: document)
      do {
        try BoundEdits.$current.withValue(edits) {
          try body(&model)
          try AutomergeEncoder(doc: document).encode(model)
        }
      } catch {
        try edits.revert(time: seconds(of: timestamp))
        throw error
      }
      document.commitWith(message: message, timestamp: timestamp)
      return document.heads() == before ? nil : document.lastChange(by: document.actor)
    }
  }

  /// The changes that this document has and `old` lacks, each as a chunk, in an order in which they can be applied.
  public func changes(between old: TypedDocument) -> [Data] { changes(notIn: old.document.heads()) }

  /// All changes of the document, each as a chunk, in an order in which they can be applied.
  public func allChanges() -> [Data] { changes(notIn: []) }

  private func changes(notIn heads: Set<ChangeHash>) -> [Data] {
    document.withCore { core in
      core.commitPending()
      let known = heads.compactMap { core.row(of: $0) }
      return core.graph.rows(notAncestorsOf: known).map { Data(core.chunk(ofRow: $0)) }
    }
  }

  /// Applies changes, in any order. Known ones have no effect; those whose dependencies are missing wait for them.
  /// Throws `LoadError`.
  public mutating func apply(changes: [Data]) throws {
    own()
    try document.applyEncodedChanges(encoded: changes.reduce(into: Data()) { $0.append($1) })
  }

  /// Applies the changes of another document. Throws `LoadError.equalActors` if both have different changes of one
  /// actor.
  public mutating func merge(_ other: TypedDocument) throws {
    guard other.storage !== storage else { return }
    own()
    try document.merge(other: other.document)
  }

  /// A copy, to be changed independently.
  /// - Parameter actor: the actor of its changes; a random one if nil
  public func fork(actor: ActorId? = nil) -> TypedDocument { TypedDocument(own: document.fork(), actor: actor) }

  /// The document with its history, in the form of a file.
  public func save() -> Data { document.save() }

  /// The changes, each with the value at that time.
  public var history: History<Model> { History(self) }

  /// The places where values were put concurrently, with all these values and their authors.
  public var conflicts: [Conflict] {
    get throws { try document.conflicts() }
  }
}

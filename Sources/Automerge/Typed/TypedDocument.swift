import Foundation

/// A document that is one `Codable` value: changed as a value, kept and merged as a document.
///
///     var pets = try TypedDocument(Pets(names: ["Fido"]))
///     try pets.change(message: "a cat") { $0.names.append("Tom") }
///
/// It is copied like a value: after `var copy = pets`, changing one of the two leaves the other as it is, and both can be
/// merged again. Only what was made of a ``Document``, by `init(document:)`, stays that document however often it is copied.
///
/// The texts and counters of a `content` belong to the document that it was read from. Where copies share one, the copy that is
/// changed first leaves it to the others: read its `content` again.
public struct TypedDocument<Model: Codable>: Sendable {
  /// Holds the document that copies share until one of them changes.
  private final class Storage: Sendable {
    let document: Document

    init(_ document: Document) { self.document = document }
  }

  private var storage: Storage
  /// Whether another owner holds the document and must see all changes.
  private let isView: Bool

  /// The document. What is done to it directly is done to this value and to the copies that share it with this one: those that
  /// neither has been changed since.
  public var document: Document { storage.document }

  private init(own document: Document, actor: ActorId?) {
    if let actor { document.actor = actor }
    (storage, isView) = (Storage(document), false)
  }

  /// A new document that holds `model`, in one change.
  /// - Parameter actor: in whose name it is changed; no other copy of the document may be changed in that name. A random one if nil.
  public init(
    _ model: Model, actor: ActorId? = nil, message: String? = "Initialization", timestamp: Date = Date()
  ) throws {
    self.init(own: Document(), actor: actor)
    try AutomergeEncoder(doc: document).encode(model)
    document.commitWith(message: message, timestamp: timestamp)
  }

  /// A document as it is; its content need not be a `Model` yet. Changes, also of copies of this value, are made in it.
  public init(document: Document) { (storage, isView) = (Storage(document), true) }

  /// Loads a saved document. Throws `LoadError`.
  /// - Parameter actor: in whose name it is changed from now on; a random one if nil.
  public init(_ bytes: Data, actor: ActorId? = nil) throws { self.init(own: try Document(bytes), actor: actor) }

  /// A document made of changes, as `changes(between:)` gives them. Throws `LoadError`.
  /// - Parameter actor: in whose name it is changed from now on; a random one if nil.
  public init(changes: [Data], actor: ActorId? = nil) throws {
    self.init(own: Document(), actor: actor)
    try apply(changes: changes)
  }

  /// Gives this value a document of its own before it is changed, with a new actor, if copies share it.
  /// - Complexity: O(n) in the history, if so.
  private mutating func own() {
    guard !isView, !isKnownUniquelyReferenced(&storage) else { return }
    storage = Storage(document.fork())
  }

  /// In whose name the document is changed.
  public var actor: ActorId { document.actor }

  /// What the document holds now. Throws what `AutomergeDecoder` throws if that is not a `Model`.
  /// - Complexity: O(n) in what it holds.
  public var content: Model {
    get throws { try AutomergeDecoder(doc: document).decode(Model.self) }
  }

  /// Changes the value, and makes one change of the difference. Returns its hash, or nil if there is no difference.
  ///
  /// Texts and counters of the model are bound to the document and written as they are changed. A single value that stands in a
  /// conflict wins for good when it is written again with all others. If `body` or the encoder throws, what they wrote is
  /// reverted, by another change, and nothing else is; what was done to the document itself stays.
  ///
  /// Other threads that use the document wait until the change is made, so `body` must not wait for them.
  /// - Complexity: O(n) in what the document holds.
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

  /// The changes that this document has and `old` has not, each as a chunk, in the order in which they can be applied.
  public func changes(between old: TypedDocument) -> [Data] { changes(notIn: old.document.heads()) }

  /// All changes of the document, each as a chunk, in the order in which they can be applied.
  public func allChanges() -> [Data] { changes(notIn: []) }

  private func changes(notIn heads: Set<ChangeHash>) -> [Data] {
    document.withCore { core in
      core.commitPending()
      let known = heads.compactMap { core.row(of: $0) }
      return core.graph.rows(notAncestorsOf: known).map { Data(core.chunk(ofRow: $0)) }
    }
  }

  /// Takes in changes, in any order; those that are there already do nothing, those whose predecessors are missing wait
  /// for them. Throws `LoadError`.
  public mutating func apply(changes: [Data]) throws {
    own()
    try document.applyEncodedChanges(encoded: changes.reduce(into: Data()) { $0.append($1) })
  }

  /// Takes in what another document has. Throws `LoadError.equalActors` if both have been changed in the name of one actor.
  public mutating func merge(_ other: TypedDocument) throws {
    guard other.storage !== storage else { return }
    own()
    try document.merge(other: other.document)
  }

  /// The same document, to be changed independently.
  /// - Parameter actor: in whose name it is changed; a random one if nil.
  public func fork(actor: ActorId? = nil) -> TypedDocument { TypedDocument(own: document.fork(), actor: actor) }

  /// The document with its history as a file.
  public func save() -> Data { document.save() }

  /// The changes, each with the value as it was then.
  public var history: History<Model> { History(self) }

  /// The places where values were put concurrently, with all those values and their authors.
  public var conflicts: [Conflict] {
    get throws { try document.conflicts() }
  }
}

import Foundation

/// A document that is one `Codable` value: changed as a value, kept and merged as a document.
///
///     let pets = try TypedDocument(Pets(names: ["Fido"]))
///     try pets.change(message: "a cat") { $0.names.append("Tom") }
public struct TypedDocument<Model: Codable>: Sendable {
  public let document: Document

  /// A new document that holds `model`, in one change.
  public init(_ model: Model, message: String? = nil, timestamp: Date = Date()) throws {
    document = Document()
    try AutomergeEncoder(doc: document).encode(model)
    document.commitWith(message: message, timestamp: timestamp)
  }

  /// A document as it is; its content need not be a `Model` yet.
  public init(document: Document) { self.document = document }

  /// Loads a saved document. Throws `LoadError`.
  public init(_ bytes: Data) throws { document = try Document(bytes) }

  /// A document made of changes, as `changes(between:)` gives them. Throws `LoadError`.
  public init(changes: [Data]) throws {
    document = Document()
    try apply(changes: changes)
  }

  /// What the document holds now. Throws what `AutomergeDecoder` throws if that is not a `Model`.
  /// - Complexity: O(n) in what it holds.
  public var content: Model {
    get throws { try AutomergeDecoder(doc: document).decode(Model.self) }
  }

  /// Changes the value, and makes one change of the difference. Returns its hash, or nil if there is no difference.
  ///
  /// Texts and counters of the model are bound to the document and written as they are changed. If `body` or the encoder
  /// throws, what they wrote is reverted, by another change, and nothing else is; what was done to the document itself
  /// stays.
  @discardableResult
  public func change(
    message: String? = nil, timestamp: Date = Date(), _ body: (inout Model) throws -> Void
  ) throws -> ChangeHash? {
    var model = try content
    let before = document.heads()
    let edits = BoundEdits(of: document)
    do {
      try BoundEdits.$current.withValue(edits) {
        try body(&model)
        try AutomergeEncoder(doc: document).encode(model)
      }
    } catch {
      try edits.revert()
      throw error
    }
    document.commitWith(message: message, timestamp: timestamp)
    return document.heads() == before ? nil : document.lastChange(by: document.actor)
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
  public func apply(changes: [Data]) throws {
    try document.applyEncodedChanges(encoded: changes.reduce(into: Data()) { $0.append($1) })
  }

  /// Takes in what another document has.
  public func merge(_ other: TypedDocument) throws { try document.merge(other: other.document) }

  /// The same document, to be changed independently.
  public func fork() -> TypedDocument { TypedDocument(document: document.fork()) }

  /// The document with its history as a file.
  public func save() -> Data { document.save() }

  /// The changes, each with the value as it was then.
  public var history: History<Model> { History(self) }

  /// The places where values were put concurrently, with all those values.
  public var conflicts: [Conflict] {
    get throws { try document.conflicts() }
  }
}

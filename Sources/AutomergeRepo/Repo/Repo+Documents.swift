import Automerge
import Foundation

/// Documents by id, under automerge-repo's names. Each call returns a document or throws why there is none.
extension Repo {
  /// Adds a document under an id of the program's own. Stores it, and announces it to the peers that the policy allows.
  ///
  /// If the repo searches for the document, this ends the search. The handle may then have a document of its own with
  /// the changes of `doc`: go on with the handle's.
  ///
  /// - Throws: `alreadyExists` if the repo or its store has this document; `deleted`, `storage`, `stopped`
  public func create(doc: Document = Document(), id: DocumentId) async throws(RepoError) -> DocHandle {
    try await DocumentMaker(repo: self).make(id, of: doc)
  }

  /// Adds a document that was saved elsewhere, under a new id, or one of the program's own.
  ///
  /// - Throws: `notADocument`, and what `create(doc:id:)` throws
  /// - Complexity: O(n) in the bytes
  public func create(data: Data, id: DocumentId? = nil) async throws(RepoError) -> DocHandle {
    let document = try await DocumentMaker.document(of: data)
    guard let id else { return try create(document) }
    return try await create(doc: document, id: id)
  }

  /// Adds a document that was saved elsewhere, under a new id.
  ///
  /// - Complexity: O(n) in the bytes, which are read on another thread
  @discardableResult
  public func `import`(data: Data) async throws(RepoError) -> DocHandle { try await create(data: data) }

  /// Adds a document under its id. If the repo has one with this id already, merges the two.
  @discardableResult
  public func `import`(doc: Document, id: DocumentId) async throws(RepoError) -> DocHandle {
    do throws(RepoError) {
      return try await create(doc: doc, id: id)
    } catch .alreadyExists {
      // A document without changes ends no search; another one need not wait for the peers that are asked.
      let known = doc.heads().isEmpty ? nil : await loader.known(id)
      let handle = if let known { known } else { try await find(id: id) }
      try DocumentMaker.merge(doc, into: handle)
      return handle
    }
  }

  /// Adds the document of a handle that belongs to no repo yet, under the handle's id. If the repo has one with this id
  /// already, merges the two.
  ///
  /// - Returns: the repo's own handle, which stores and sends
  @discardableResult
  public func `import`(handle: DocHandle) async throws(RepoError) -> DocHandle {
    if self.handle(of: handle.id) === handle { return handle }
    return try await `import`(doc: handle.document, id: handle.id)
  }

  /// Looks for a document in memory, in the store, and at the peers to which the policy would announce it. Ends as soon
  /// as all of them have answered, or after `limit`.
  public func find(id: DocumentId, within limit: Duration = .seconds(10)) async throws(RepoError) -> DocHandle {
    try await find(id, within: limit).handle(of: id)
  }

  /// The same for a document's URL. Throws `unknownVersion` if the URL names a version that is not here.
  public func find(_ url: AutomergeURL, within limit: Duration = .seconds(10)) async throws(RepoError) -> DocHandle {
    let handle = try await find(id: url.documentId, within: limit)
    guard handle.document.unknown(url.heads).isEmpty else { throw .unknownVersion(url.documentId) }
    return handle
  }

  /// Looks for a document, and reports each source's answer. The last element has the outcome. The search continues if
  /// its reader stops.
  public func findWithProgress(
    _ id: DocumentId, within limit: Duration = .seconds(10)
  ) -> AsyncStream<FindProgress> {
    // The outcome is the newest element, so it is never dropped.
    let (stream, continuation) = AsyncStream.makeStream(of: FindProgress.self, bufferingPolicy: .bufferingNewest(64))
    if handle(of: id) == nil {
      let isNew = entries[id] == nil
      let entry = entries.entry(for: id)
      entry.watch(continuation)
      if isNew { loader.load(entry) }
    }
    Task {
      let outcome = await self.find(id, within: limit)
      continuation.yield(FindProgress(id: id, sources: [:], outcome: outcome))
      continuation.finish()
    }
    return stream
  }

  /// Adds a copy of a document under a new id. The copy has the original's history, and is independent of it from now
  /// on.
  ///
  /// - Complexity: O(n) in the history
  public func clone(id: DocumentId) async throws(RepoError) -> DocHandle {
    try create(try await find(id: id).document.fork())
  }

  /// A document's bytes, compressed, for `import` and for any program that uses Automerge.
  ///
  /// - Complexity: O(n) in the history
  public func export(id: DocumentId) async throws(RepoError) -> Data { try await find(id: id).document.save() }
}

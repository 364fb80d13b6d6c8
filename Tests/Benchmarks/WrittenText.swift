import Automerge
import Foundation

/// A document with the text that a trace writes.
struct WrittenText {
  let document: Document
  let text: ObjId

  init() throws {
    document = Document()
    text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    document.commitWith()
  }

  /// Takes the text that stands under the key `text`.
  init(document: Document) throws {
    guard case .Object(let text, _)? = try document.get(obj: .ROOT, key: "text") else {
      throw TraceError.unreadable("the document")
    }
    (self.document, self.text) = (document, text)
  }

  init(loading bytes: Data) throws { try self.init(document: Document(bytes)) }

  func apply(_ patch: EditingTrace.Patch) throws {
    try document.spliceText(obj: text, start: patch.position, delete: patch.deleted, value: patch.inserted)
  }

  func check(_ trace: EditingTrace) throws {
    guard try document.text(obj: text) == trace.endContent else { throw TraceError.otherText(trace.name) }
  }
}

extension EditingTrace {
  func replay(committingEach: Bool) throws -> WrittenText {
    let written = try WrittenText(), now = Date()
    for transaction in transactions {
      for patch in transaction { try written.apply(patch) }
      if committingEach { written.document.commitWith(timestamp: now) }
    }
    written.document.commitWith(timestamp: now)
    return written
  }

  /// What a peer sends for each transaction, and the document before the first one.
  func updates() throws -> (updates: [Data], base: Data) {
    let written = try WrittenText(), now = Date()
    let base = written.document.save()
    var updates: [Data] = []
    updates.reserveCapacity(transactions.count)
    for transaction in transactions {
      for patch in transaction { try written.apply(patch) }
      written.document.commitWith(timestamp: now)
      updates.append(written.document.encodeNewChanges())
    }
    return (updates, base)
  }
}

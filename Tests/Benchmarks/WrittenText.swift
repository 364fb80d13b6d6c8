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

  init(loading bytes: Data, verification: Verification = .immediate) throws {
    try self.init(document: Document(bytes, verification: verification))
  }

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
    var start = 0
    for end in ends {
      for patch in start..<end { try written.apply(patches[patch]) }
      if committingEach { written.document.commitWith(timestamp: now) }
      start = end
    }
    written.document.commitWith(timestamp: now)
    return written
  }

  /// What a peer sends for each transaction, and the document before the first one.
  func updates() throws -> (updates: [Data], base: Data) {
    let written = try WrittenText(), now = Date()
    let base = written.document.save()
    var updates: [Data] = []
    updates.reserveCapacity(ends.count)
    var start = 0
    for end in ends {
      for patch in start..<end { try written.apply(patches[patch]) }
      start = end
      written.document.commitWith(timestamp: now)
      updates.append(written.document.encodeNewChanges())
    }
    return (updates, base)
  }
}

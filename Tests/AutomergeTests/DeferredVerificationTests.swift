import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Loading first and hashing later.
struct DeferredVerificationTests {
  private static func saved() throws -> (Document, ObjId, Data) {
    let document = try Document(actor: "aa")
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    for count in 0..<200 {
      try document.spliceText(obj: text, start: UInt64(count / 2), delete: 0, value: "x\(count) ")
      if count % 3 == 0 { document.commitWith(timestamp: Date(timeIntervalSince1970: 0)) }
    }
    return (document, text, document.save())
  }

  @Test func aDocumentLoadedUnverifiedIsTheSameDocument() throws {
    let (document, text, bytes) = try Self.saved()
    let loaded = try Document(bytes, verification: .deferred)
    #expect(try loaded.text(obj: text) == document.text(obj: text))
    try loaded.verify()
    #expect(loaded.heads() == document.heads())
    #expect(loaded.save() == bytes)
  }

  @Test func anEditBeforeVerifyingFitsTheHistory() throws {
    let (document, text, bytes) = try Self.saved()
    let loaded = try Document(bytes, verification: .deferred)
    try loaded.spliceText(obj: text, start: 3, delete: 1, value: "typed at once")
    loaded.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    try loaded.verify()
    try document.applyEncodedChanges(encoded: loaded.encodeNewChanges())
    #expect(try loaded.text(obj: text) == document.text(obj: text))
    #expect(loaded.heads() == document.heads())
    #expect(loaded.brokenInvariant() == nil)
  }

  @Test func wrongHeadsAreFoundWhenVerified() throws {
    let (document, _, bytes) = try Self.saved()
    let head = try #require(document.heads().first)
    // The head's first byte in the chunk; then the frame is made right again.
    var body = Array(try ChunkReader.all(Array(bytes)[...])[0].body)
    let place = try #require(body.indices.first { body[$0...].starts(with: head.bytes) })
    body[place] ^= 1
    let forged = Data(Chunk.encode(.document, body: body).bytes)
    #expect(throws: LoadError.inconsistentDocument(.heads)) { try Document(forged) }
    let loaded = try Document(forged, verification: .deferred)
    #expect(throws: LoadError.inconsistentDocument(.heads)) { try loaded.verify() }
    // What it sends is named by what it is.
    #expect(loaded.heads() == document.heads())
  }
}

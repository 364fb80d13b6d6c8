import Automerge
import Foundation
import TestSupport

/// Our side of a session: a document with a text at root key `content`, and what is known of the peer.
struct Replica {
  var document: Document
  var state = SyncState()

  init(_ document: Document = Document()) { self.document = document }

  var content: ObjId? {
    guard case .Object(let id, .Text)? = try? document.get(obj: .ROOT, key: "content") else { return nil }
    return id
  }

  var text: String? { content.flatMap { try? document.text(obj: $0) } }

  var heads: [String] { document.heads().map(\.description).sorted() }

  func makeContent() throws -> ObjId {
    if let content { return content }
    return try document.putObject(obj: .ROOT, key: "content", ty: .Text)
  }

  /// Exchanges messages with the peer until both are silent; how many there were.
  func sync(with peer: ReferencePeer, limit: Int = 40) throws -> Int {
    var (count, silent) = (0, 0)
    while silent < 2, count < limit {
      let ours = document.generateSyncMessage(state: state)
      let theirs = try peer.sync(ours)
      if let theirs { try document.receiveSyncMessage(state: state, message: theirs) }
      count += (ours == nil ? 0 : 1) + (theirs == nil ? 0 : 1)
      silent = ours == nil && theirs == nil ? silent + 1 : 0
    }
    return count
  }
}

/// One random edit of a text, in scalars.
struct RandomEdit {
  var index: Int
  var delete: Int
  var insert: String

  private static let pieces = [
    "a", "the ", "é", "\n", "😀", "e\u{301}", "\u{10ffff}", "漢字", "\t", "word", "\u{feff}", "x\r\n",
  ]

  init(of text: String, with random: inout SeededGenerator) {
    let length = text.unicodeScalars.count
    index = Int.random(in: 0...length, using: &random)
    delete = Int.random(in: 0...3, using: &random) == 0 ? Int.random(in: 0...min(8, length - index), using: &random) : 0
    insert = (0..<Int.random(in: delete == 0 ? 1...4 : 0...3, using: &random)).map { _ in
      Self.pieces.randomElement(using: &random) ?? ""
    }.joined()
  }
}

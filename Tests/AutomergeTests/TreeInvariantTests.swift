import TestSupport
import Testing

@testable import Automerge

/// The limits of a text's tree, and that they are noticed when they do not hold.
struct TreeInvariantTests {
  private func inTree(of document: Document, _ text: ObjId, _ body: (TextTree) -> Void) throws {
    try document.withCore { core in body(try core.text(text).tree) }
  }

  /// A stretch of text is stored in pieces of bounded size, letter by letter as at once.
  @Test(arguments: [1, 7, 1500]) func textIsStoredInBoundedPieces(length: Int) throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let letters = Array(repeating: UInt8(ascii: "x"), count: length)
    for start in stride(from: 0, to: 3000, by: length) {
      try document.spliceText(obj: text, utf8Offset: start, deleteUTF8: 0, insert: letters)
    }
    #expect(document.brokenInvariant() == nil)
    try inTree(of: document, text) { tree in
      var sizes: [Int] = []
      tree.forEachRun { sizes.append(Int($0.utf8)) }
      #expect(sizes.max() ?? 0 <= TextRun.maximumByteCount)
      #expect(sizes.count < 6, "\(sizes)")
    }
  }

  @Test func aDamagedTreeSaysWhatIsWrong() throws {
    let damages: [(words: String, damage: (TextTree) -> Void)] = [
      ("count of node 0", { $0.nodes[0].count = 0 }),
      ("count of node 0", { $0.nodes[0].count = TextTree.nodeCapacity + 1 }),
      ("parent of node 0", { $0.nodes[0].parent = 0 }),
      ("sums of node 0", { $0.nodes[0].sums = .zero }),
      ("parent of leaf 0", { $0.leaves[0].parent = 1 }),
      ("count of leaf 0", { $0.leaves[0].count = TextTree.leafCapacity + 1 }),
      ("sums of leaf 0", { $0.leaves[0].sums = .zero }),
      (
        "leaves: 1 in the tree, 2 linked, 2 made",
        { $0.leaves[0].next = UInt32($0.leaves.append(TextTree.Leaf(parent: 0))) }
      ),
    ]
    for (words, damage) in damages {
      let document = Document()
      let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
      try document.spliceText(obj: text, start: 0, delete: 0, value: "text")
      #expect(document.brokenInvariant() == nil)
      try inTree(of: document, text, damage)
      #expect(document.brokenInvariant()?.hasSuffix(": \(words)") == true, "\(words)")
    }
  }
}

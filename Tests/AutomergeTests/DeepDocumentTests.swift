import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Documents and values that are nested deeper than anything honest.
struct DeepDocumentTests {
  private final class Node: Codable {
    var child: Node?
    init(_ child: Node?) { self.child = child }
  }

  /// Opens one container in another without calling itself.
  private struct Nest: Encodable {
    let depth: Int
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      for _ in 0..<depth { container = container.nestedUnkeyedContainer() }
    }
  }

  /// Maps in one another at the key `child`, from the outermost on.
  private func nested(_ depth: Int, in document: Document) throws -> [ObjId] {
    var objects: [ObjId] = []
    for _ in 0..<depth {
      objects.append(try document.putObject(obj: objects.last ?? .ROOT, key: "child", ty: .Map))
    }
    return objects
  }

  @Test func aDumpShowsADeepDocumentDownToTheLimit() throws {
    let document = Document()
    let objects = try nested(5000, in: document)
    let text = document.dump(includingChanges: false).text()
    func shows(_ depth: Int) -> Bool { text.contains("\"\(objects[depth - 1].description)\"") }
    #expect(shows(Document.valueDepthLimit) && !shows(Document.valueDepthLimit + 1))
    #expect(text.contains(#""t":"\u2026""#))
    #expect(document.dump().text().contains("hash"))
  }

  @Test func blocksInADeepTextAreDumpedDownToTheLimit() throws {
    let document = Document()
    let outer = try nested(Document.valueDepthLimit - 2, in: document).last ?? .ROOT
    let text = try document.putObject(obj: outer, key: "text", ty: .Text)
    let block = try document.splitBlock(obj: text, index: 0)
    _ = try document.putObject(obj: block, key: "child", ty: .Map)
    #expect(document.dump(includingChanges: false).text().contains(#""t":"\u2026""#))
  }

  @Test func aValueThatIsNestedTooDeepIsRefusedAndNothingIsWritten() throws {
    let document = Document()
    func isRefused(_ value: some Encodable) -> Bool {
      do { try AutomergeEncoder(doc: document).encode(value, at: [AnyCodingKey("a")]) } catch is EncodingError {
        return true
      } catch {
        Issue.record("\(error)")
      }
      return false
    }
    var node = Node(nil)
    for _ in 0..<5000 { node = Node(node) }
    #expect(isRefused(node))
    #expect(isRefused(Nest(depth: Document.valueDepthLimit)))
    #expect(isRefused(Nest(depth: 50_000)))
    #expect(document.heads().isEmpty && document.keys(obj: .ROOT).isEmpty)
    // Freeing the chain node by node would exhaust the stack, too.
    while let child = node.child { (node.child, node) = (nil, child) }
  }

  @Test func aValueThatIsNestedAsDeepAsItMayIsWrittenAndRead() throws {
    let document = Document()
    var node = Node(nil)
    for _ in 0..<Document.valueDepthLimit - 1 { node = Node(node) }
    try AutomergeEncoder(doc: document).encode(node)
    var read: Node? = try AutomergeDecoder(doc: document).decode(Node.self), depth = 0
    while let next = read { (read, depth) = (next.child, depth + 1) }
    #expect(depth == Document.valueDepthLimit)
    try AutomergeEncoder(doc: document).encode(Nest(depth: Document.valueDepthLimit - 1), at: [AnyCodingKey("list")])
  }

  @Test func objectsThatAreNestedTooDeepHaveNoPatches() throws {
    let document = Document(), depth = 3000
    let objects = try nested(depth, in: document)
    func deepest(_ patches: [Patch]) -> Int? { patches.map(\.path.count).max() }
    let all = document.difference(since: [])
    #expect(all.count == Document.valueDepthLimit + 1 && deepest(all) == Document.valueDepthLimit)
    #expect(Set(all.map(\.path)).count == all.count)
    let heads = document.heads()
    #expect(try document.difference(obj: objects[0], from: [], to: heads).count == Document.valueDepthLimit)
    #expect(try document.difference(obj: objects[depth - 1], from: [], to: heads).isEmpty)
    // What a peer sends is told within the same limit, and so is what undoing changes; the content has no limit.
    let other = Document()
    #expect(try other.mergeWithPatches(other: document).count == all.count)
    #expect(other.heads() == heads)
  }

  @Test func theDifferenceOfOneObjectAloneLooksAtNoOther() throws {
    let document = Document()
    let first = try document.putObject(obj: .ROOT, key: "first", ty: .Map)
    try document.put(obj: first, key: "x", value: .Int(1))
    let inner = try document.putObject(obj: first, key: "inner", ty: .List)
    try document.insert(obj: inner, index: 0, value: .Int(2))
    let second = try document.putObject(obj: .ROOT, key: "second", ty: .Map)
    try document.put(obj: second, key: "y", value: .Int(3))
    let heads = document.heads()
    let whole = document.difference(from: [], to: heads)
    for object in [ObjId.ROOT, first, inner, second] {
      let alone = try document.difference(obj: object, from: [], to: heads, recursive: false)
      #expect(alone == whole.filter { $0.action.subject == object })
    }
    let inFirst = try document.difference(obj: first, from: [], to: heads)
    #expect(inFirst == whole.filter { $0.action.subject == first || $0.action.subject == inner })
  }
}

extension PatchAction {
  /// The object that the patch is about.
  fileprivate var subject: ObjId {
    switch self {
    case .Put(let object, _, _), .Increment(let object, _, _), .DeleteMap(let object, _), .Marks(let object, _),
      .Conflict(let object, _):
      object
    case .Insert(let object, _, _), .SpliceText(let object, _, _, _): object
    case .DeleteSeq(let deletion): deletion.obj
    }
  }
}

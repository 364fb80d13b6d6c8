import Automerge
import Foundation
import TestSupport
import Testing

@testable import AutomergeRepo

/// The texts by which documents are named.
struct AutomergeURLTests {
  @Test func aURLHasOneTextAndComesBackFromIt() throws {
    let id = try #require(DocumentId("3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX"))
    let heads = Set(try (0..<3).map { try #require(ChangeHash(bytes: [UInt8](repeating: UInt8($0), count: 32))) })
    let urls = [
      AutomergeURL(id), AutomergeURL(id, path: ["agenda", "0"]), AutomergeURL(id, heads: heads),
      AutomergeURL(id, path: ["a/b", "#|%", "ü"], heads: heads),
    ]
    for url in urls {
      #expect(AutomergeURL(url.description) == url)
      #expect(try JSONDecoder().decode(AutomergeURL.self, from: JSONEncoder().encode(url)) == url)
    }
    #expect(urls[0].description == "automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX")
    #expect(urls[1].description == "automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX/agenda/0")
  }

  @Test(arguments: [
    "", "3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX", "automerge:", "automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKY",
    "automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX#", "automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX#zzz",
    "automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX//", "automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX/%zz",
    "automerge:automerge:3BwAK2fZ3Nrgn9HRBb9yvNx9xXKX", "automerge:" + String(repeating: "1", count: 9000),
  ])
  func whatIsNoURLIsRefused(text: String) { #expect(AutomergeURL(text) == nil) }

  @Test func aDocumentIdIsCodedAsItsTextAndReadInUpstreamsForm() throws {
    let id = DocumentId()
    #expect(id != DocumentId())
    #expect(id.bytes[6] >> 4 == 4 && id.bytes[8] >> 6 == 2, "the form of a random UUID")
    #expect(try String(decoding: JSONEncoder().encode([id]), as: UTF8.self) == "[\"\(id)\"]")
    let upstream = #"{"id": "\#(id)", "data": "AAAA"}"#
    #expect(try JSONDecoder().decode(DocumentId.self, from: Data(upstream.utf8)) == id)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([DocumentId].self, from: Data("[\"x\"]".utf8)) }
    let uuid = UUID()
    #expect(DocumentId(uuid).bytes == withUnsafeBytes(of: uuid.uuid) { Array($0) })
    let sorted = (0..<20).map { _ in DocumentId() }.sorted()
    for (one, next) in zip(sorted, sorted.dropFirst()) { #expect(one.bytes.lexicographicallyPrecedes(next.bytes)) }
    #expect(id.id == id.description)
  }
}

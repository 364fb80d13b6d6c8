import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Bundles: several changes in one set of columns.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct BundleTests {}

extension BundleTests {
  private static let names = Vectors.documentNames().filter { name in
    ((try? Vectors.load(name))?.json["bundle"]).map { !$0.isNull } ?? false
  }

  private func parts(_ name: String) throws -> (vector: Vectors.Case, bundle: [UInt8], bundled: [JSON]) {
    let vector = try Vectors.load(name), bundle = vector.json["bundle"]
    let changes = vector.json["changes"].items
    return (vector, try require(bundle["bytes"].hex), try bundle["indexes"].items.map { changes[try require($0.int)] })
  }

  @Test func thereAreBundles() { #expect(Self.names.count >= 30) }

  @Test(arguments: names)
  func changesOfABundleComeOutWithTheirExactBytes(name: String) throws {
    let (_, bytes, bundled) = try parts(name)
    let chunk = try require(ChunkReader.all(bytes[...]).first)
    #expect(chunk.kind == .bundle)
    let changes = try BundleDecoder.decode(chunk)
    let written = changes.map { change in
      let body = ChangeEncoder.body(change.header, author: 0, runs: change.runs, of: change)
      return Hex.text(Chunk.encode(.change, body: body).bytes)
    }
    #expect(written.sorted() == bundled.compactMap { $0["raw"].string }.sorted())
    #expect(changes.map(\.hash.description).sorted() == bundled.compactMap { $0["hash"].string }.sorted())
  }

  @Test(arguments: names)
  func aBundleIsTakenWithTheChangesThatItLacks(name: String) throws {
    let (vector, bundle, bundled) = try parts(name)
    let inBundle = Set(bundled.compactMap { $0["hash"].string })
    var others: [UInt8] = []
    for change in vector.json["changes"].items where !inBundle.contains(change["hash"].string ?? "") {
      others += try require(change["raw"].hex)
    }
    let heads = vector.json["heads"].strings
    // Applied first, in the middle of a file, and last.
    let early = Document()
    try early.applyEncodedChanges(encoded: Data(bundle))
    try early.applyEncodedChanges(encoded: Data(others))
    #expect(early.headNames == heads)
    let late = try Document(Data(others + bundle))
    #expect(late.headNames == heads)
    #expect(late.brokenInvariant() == nil)
    let waiting = Document()
    try waiting.applyEncodedChanges(encoded: Data(bundle))
    let reloaded = try Document(waiting.save() + Data(others))
    #expect(reloaded.headNames == heads)
    // By sync, as the one chunk of a message.
    let synced = try Document(Data(others)), state = SyncState()
    var message = SyncMessage()
    message.version = .v2
    message.heads = try heads.map { try require(ChangeHash(bytes: try require(Hex.bytes($0)))) }
    message.changes = [bundle[...]]
    try synced.receiveSyncMessage(state: state, message: Data(message.encoded))
    #expect(synced.headNames == heads)
  }

  @Test(arguments: names)
  func whatIsBundledHereComesOutWithTheSameBytes(name: String) throws {
    let vector = try Vectors.load(name), document = try Document(Data(require(vector.saved)))
    let all = document.getHistory(), chunks = try chunks(of: document)
    // All of them, those of the reference's bundle, and all but the first.
    let theirs = vector.json["bundle"]["indexes"].items.compactMap { $0.int }.map { all[$0] }
    for hashes in [all, theirs, Array(all.dropFirst())] where hashes.count > 1 {
      let bundle = try document.saveBundle(Set(hashes))
      let chunk = try require(ChunkReader.all(Array(bundle)[...]).first)
      #expect(chunk.kind == .bundle)
      let written = try BundleDecoder.decode(chunk).map { change in
        let body = ChangeEncoder.body(change.header, author: 0, runs: change.runs, of: change)
        return Hex.text(Chunk.encode(.change, body: body).bytes)
      }
      #expect(written.sorted() == hashes.compactMap { chunks[$0] }.sorted())
    }
    let copy = Document()
    try copy.applyEncodedChanges(encoded: document.saveBundle(Set(all)))
    #expect(copy.heads() == document.heads() && copy.brokenInvariant() == nil)
  }

  private func chunks(of document: Document) throws -> [ChangeHash: String] {
    var chunks: [ChangeHash: String] = [:]
    for hash in document.getHistory() { chunks[hash] = Hex.text(Array(try require(document.change(hash: hash)).bytes)) }
    return chunks
  }

  @Test(arguments: names.prefix(6), 0..<6)
  func aDamagedBundleIsRefusedOrIsStillABundle(name: String, seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (_, bytes, _) = try parts(name)
    let chunk = try require(ChunkReader.all(bytes[...]).first)
    for _ in 0..<20 {
      var body = Array(chunk.body)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = body.indices.randomElement(using: &random) ?? 0
        body[place] = [0, 1, 0x7f, 0x80, 0xff, body[place] ^ 1, body[place] &+ 1].randomElement(using: &random) ?? 0
      }
      let damaged = Chunk.encode(.bundle, body: body).bytes
      let document = Document()
      do {
        try document.applyEncodedChanges(encoded: Data(damaged))
      } catch is LoadError {}
      #expect(document.brokenInvariant() == nil, "seed \(seed)")
      #expect(try Document(document.save()).heads() == document.heads(), "seed \(seed)")
    }
  }

  @Test func whatABundleMayNotHoldIsRefused() throws {
    func refusal(_ body: [UInt8]) -> LoadError? {
      do {
        try Document().applyEncodedChanges(encoded: Data(Chunk.encode(.bundle, body: body).bytes))
        return nil
      } catch {
        return error as? LoadError
      }
    }
    // No hashes, no actors, no columns: nothing.
    #expect(refusal([0, 0, 0, 0]) == nil)
    #expect(refusal([0, 0, 0, 0, 9]) == .format(.leftover(at: 14)))
    // An unknown column of changes.
    #expect(refusal([0, 0, 1, 0x70, 1, 0, 0]) == .format(.unknownColumn(0x70)))
    // One actor; 2^28 changes by it in four bytes.
    let absurd: [UInt8] = [0, 1, 1, 0xaa, 1, 0x01, 5, 0x80, 0x80, 0x80, 0x01, 0x00, 0]
    guard case .format(.tooMany)? = refusal(absurd) else {
      Issue.record("\(String(describing: refusal(absurd)))")
      return
    }
    // A change that depends on itself: actor 0, seq 1, ops 1 to 0, one dep, row 0.
    let circle: [UInt8] = [
      0, 1, 1, 0xaa, 7, 0x01, 2, 0x03, 2, 0x13, 2, 0x23, 2, 0x33, 2, 0x50, 2, 0x53, 2,
      0x7f, 0, 0x7f, 1, 0x7f, 1, 0x7f, 0, 0x7f, 0, 0x7f, 1, 0x7f, 0, 0,
    ]
    #expect(refusal(circle) == .format(.invalid(.dependency, at: 0)))
  }

  @Test func manyOperationsAreSeveralChunksAndReadBack() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    for count in [40_000, 40_000, 70_000, 10, 10] {
      try document.spliceText(obj: text, start: 0, delete: 0, value: String(repeating: "x", count: count))
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    try document.spliceText(obj: text, start: 0, delete: 160_000)
    document.commitWith(message: "all gone", timestamp: Date(timeIntervalSince1970: 1))
    let bundle = try document.saveBundle(Set(document.getHistory()))
    let kinds = try ChunkReader.all(Array(bundle)[...]).map(\.kind)
    #expect(kinds == [.change, .change, .change, .bundle, .change])
    let copy = try Document(bundle)
    #expect(copy.heads() == document.heads() && copy.length(obj: text) == 0)
    let unknown = try #require(ChangeHash(bytes: Array(repeating: 7, count: 32)))
    #expect(throws: DocError.unknownChange(unknown)) { try document.saveBundle([unknown]) }
  }
}

import Foundation
import TestSupport
import Testing

@testable import Automerge

/// The sync sessions of the vectors, with documents: each message must be the one the reference sent.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct SyncTranscriptTests {}

extension SyncTranscriptTests {
  private final class Side {
    var document: Document
    var state = SyncState()

    init(_ document: Document) { self.document = document }

    var heads: [String] { document.heads().map(\.description).sorted() }

    func apply(_ changes: JSON) throws {
      for change in changes.items { try document.applyEncodedChanges(encoded: Data(try #require(change.hex))) }
    }
  }

  /// The message with deflated columns inflated, since their bytes depend on the compressor.
  private func comparable(_ bytes: [UInt8]) throws -> SyncMessage {
    var message = try SyncMessage(decoding: bytes[...])
    message.changes = try message.changes.map { bytes in
      var writer = ByteWriter()
      for chunk in try ChunkReader.all(bytes) {
        guard chunk.kind == .document else {
          writer.raw(Chunk.encode(chunk.kind, body: Array(chunk.body)).bytes)
          continue
        }
        var reader = ByteReader(chunk.body)
        for _ in 0..<(try reader.count(itemByteCount: 1)) { writer.actor(try reader.actor()) }
        writer.hashes(try reader.hashes())
        let headers = [
          try ColumnHeader(from: &reader, allowingDeflate: true),
          try ColumnHeader(from: &reader, allowingDeflate: true),
        ]
        var budget = FormatLimits.inflatedByteCount(stored: chunk.body.count)
        for header in headers {
          for (spec, column) in try header.readColumns(from: &reader, inflating: &budget).columns {
            writer.uleb(UInt64(spec.rawValue))
            writer.lengthPrefixed(column)
          }
        }
        writer.raw(reader.rest)
      }
      return writer.bytes[...]
    }
    return message
  }

  private func expectState(_ side: Side, _ expected: JSON, _ name: String) {
    #expect(Hex.text(side.state.encode()) == expected["encoded"].string, "\(name)")
    side.state.progress.withLock { progress in
      #expect(progress.lastSentHeads.map(\.description) == expected["last_sent_heads"].strings, "\(name)")
      #expect(progress.sentHashes.map(\.description).sorted() == expected["sent_hashes"].strings.sorted(), "\(name)")
      #expect(progress.inFlight == expected["in_flight"].bool, "\(name)")
      #expect(progress.haveResponded == expected["have_responded"].bool, "\(name)")
      #expect(progress.theirHeads.map { $0.map(\.description) } == expected["their_heads"].strings, "\(name)")
      #expect(progress.theirNeed.map { $0.map(\.description) } == expected["their_need"].strings, "\(name)")
      #expect(progress.isPeerReadOnly == expected["peer_read_only"].bool, "\(name)")
      #expect(progress.theirCapabilities?.syncReset == expected["their_capabilities"].strings.contains("SyncReset"))
    }
  }

  @Test(arguments: Vectors.names(prefix: "sync_"))
  func everyMessageIsTheOneOfTheReference(name: String) throws {
    let vector = try Vectors.load(name)
    var sides: [String: Side] = [:]
    for key in ["a", "b"] {
      sides[key] = Side(try Document(Data(try #require(vector.json["docs"][key].hex))))
    }
    if vector.json["read_only_a"].bool == true { sides["a"]?.state.isReadOnly = true }
    for (index, entry) in vector.json["transcript"].items.enumerated() {
      let place: Comment = "\(name), entry \(index)"
      switch entry["event"].string {
      case nil:
        let from = try #require(entry["from"].string)
        let (sender, receiver) = (try #require(sides[from]), try #require(sides[from == "a" ? "b" : "a"]))
        let message = sender.document.generateSyncMessage(state: sender.state)
        guard let expected = entry["msg"].hex else {
          #expect(message == nil, place)
          continue
        }
        #expect(try comparable(Array(try #require(message, place))) == comparable(expected), place)
        try receiver.document.receiveSyncMessage(state: receiver.state, message: Data(expected))
        #expect(receiver.heads == entry["receiver_heads"].strings.sorted(), place)
      case "local_edit":
        try #require(sides[entry["on"].string ?? ""]).apply(entry["changes"])
      case "reconnect":
        for (key, side) in sides {
          #expect(Hex.text(side.state.encode()) == entry["states"][key].string, place)
          side.state = try SyncState(bytes: side.state.encode())
        }
        try #require(sides[entry["on"].string ?? ""]).apply(entry["changes"])
      case "b_lost_everything_including_state":
        sides["b"] = Side(Document())
      case "set_read_only":
        try #require(sides[entry["on"].string ?? ""]).state.isReadOnly = entry["value"].bool == true
      case let other?: Issue.record("unknown event \(other)")
      }
    }
    for (key, side) in sides {
      #expect(side.heads == vector.json["heads"][key].strings.sorted(), "\(name)")
      expectState(side, vector.json["states"][key], "\(name), side \(key)")
    }
  }
}

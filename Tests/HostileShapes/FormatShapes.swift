import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

@testable import NotesServer
@testable import PeerNetwork
@testable import PeerTransport

/// The formats that foreign bytes come in, each by itself: what is read, is written and read again as the same.
public enum FormatShapes: String, CaseIterable, Sendable {
  case cbor = "CBOR"
  case jsonRPC = "JSONRPC"
  case ticket = "Ticket"
  case nearby = "Nearby"
  case meetingNotes = "MeetingNotes"
  case file = "File"

  public func check(_ input: [UInt8]) throws {
    switch self {
    case .cbor: try Self.checkCBOR(input)
    case .jsonRPC: try Self.checkJSONRPC(input)
    case .ticket: try WordShapes.checkTicket(String(decoding: input, as: UTF8.self))
    case .nearby: try Self.checkNearby(input)
    case .meetingNotes: try Self.checkMeetingNotes(input)
    case .file: try Self.checkFile(input)
    }
  }

  private static func checkCBOR(_ input: [UInt8]) throws {
    for limits in [CBOR.Limits.wire, .stored, .stored.keepingTags] {
      guard let value = try? CBOR(input, limits: limits) else { continue }
      let encoded = value.encoded()
      // Of equal keys the last one counts, before and after.
      let again = try CBOR(encoded, limits: limits)
      try Broken.unless(again.encoded() == encoded, "\(value) becomes \(again)")
    }
  }

  /// The first byte says into which pieces the stream is cut: its frames are the same whichever they are.
  private static func checkJSONRPC(_ input: [UInt8]) throws {
    let stream = Array(input.dropFirst())
    let bodies = frames(of: stream, inPiecesOf: max(1, stream.count))
    try Broken.unless(
      frames(of: stream, inPiecesOf: 1 + Int(input.first ?? 0)) == bodies,
      "frames that depend on the pieces they come in")
    try Broken.unless(bodies.reduce(0) { $0 + $1.count } <= stream.count, "more bytes than came")
    for body in bodies + [stream] {
      guard let value = try? JSONValue(parsing: body) else { continue }
      let encoded = value.encoded()
      let again = try JSONValue(parsing: encoded)
      try Broken.unless(again.encoded() == encoded, "\(value) becomes \(again)")
      _ = try? Message(value)
    }
  }

  private static func frames(of stream: [UInt8], inPiecesOf byteCount: Int) -> [[UInt8]] {
    var (reader, rest, bodies): (FrameReader, ArraySlice<UInt8>, [[UInt8]]) = (FrameReader(), stream[...], [])
    while !rest.isEmpty {
      reader.append(rest.prefix(byteCount))
      rest = rest.dropFirst(byteCount)
      do throws(JSONRPC.FrameError) {
        while let body = try reader.next() { bodies.append(body) }
      } catch {
        return bodies
      }
    }
    return bodies
  }

  /// What services on the local network say of themselves, step by step: a table of bounded size, and no name that acts.
  private static func checkNearby(_ input: [UInt8]) throws {
    let peers = (1...4).compactMap { Identity(privateKey: [UInt8](repeating: $0, count: 32))?.peerId }
    guard let local = peers.first else { throw Broken(description: "no identity") }
    var (nearby, script) = (NearbyPeers(local: local), Script(input))
    while !script.isOver {
      let source = NearbyPeers.Source(
        interface: Int32(script.below(3)), networkProtocol: Int32(script.below(2)),
        service: "notes-\(script.below(200))")
      guard script.below(4) > 0 else {
        _ = nearby.lose(source)
        continue
      }
      let name = String(decoding: script.take(script.below(40)), as: UTF8.self)
      let id = script.below(5) == 0 ? name : peers[script.below(peers.count)].description
      let announcement = Announcement(
        texts: ["v": "1", "peer_id": id, "name": name], port: UInt16(script.next()) << 8 | UInt16(script.next()))
      let host =
        script.bit() ? "192.0.2.\(script.next())" : String(decoding: script.take(script.below(30)), as: UTF8.self)
      _ = nearby.hear(announcement, at: host, from: source)
      if let announcement {
        let texts = Dictionary(announcement.texts.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
        try Broken.unless(
          texts.allSatisfy { $0.key.utf8.count + $0.value.utf8.count < 255 }, "a text that no TXT record can hold")
        let again = Announcement(texts: texts, port: announcement.port)
        try Broken.unless(again?.peer == announcement.peer, "\(announcement) becomes another peer")
      }
    }
    for peer in nearby.peers {
      try Broken.unless(peer.peer != local, "our own service as a peer")
      try Broken.unless(peer.addresses.count <= Ticket.maximumAddresses, "\(peer.addresses.count) addresses")
      try WordShapes.checkLine(peer.name, longest: KnownPeer.maximumNameLength)
    }
    for change in nearby.loseAll() {
      guard case .vanished = change else { throw Broken(description: "losing all peers reports \(change)") }
    }
    try Broken.unless(nearby.peers.isEmpty, "peers are left after their time")
  }

  private static func checkMeetingNotes(_ input: [UInt8]) throws {
    guard let file = MeetingNotesFile(input) else { return }
    let encoded = file.encoded
    guard let again = MeetingNotesFile(encoded) else { throw Broken(description: "a file that cannot be read again") }
    try Broken.unless(
      again.id == file.id && again.data == file.data && again.encoded == encoded, "a file that becomes another")
    guard let document = try? Document(file.data) else { return }
    let saved = document.save()
    try Broken.unless(try Document(saved).heads() == document.heads(), "a document that becomes another")
  }

  private static func checkFile(_ input: [UInt8]) throws {
    guard let file = try? FileContents(reading: input) else { return }
    try Broken.unless(file.bytes == input, "a file of \(input.count) bytes becomes another")
  }
}

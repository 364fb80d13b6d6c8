import Automerge
import Foundation

@testable import AutomergeRepo
@testable import NotesServer
@testable import PeerNetwork
@testable import PeerTransport

/// Frames and messages of a peer, down to what each kind of message says: what is read, is written and read again as the same.
public enum MessageShapes {
  /// The first byte says what follows: bodies of messages without frames, or a stream that comes in pieces.
  public static func check(_ input: [UInt8]) throws {
    guard let kind = input.first else { return }
    guard kind > 0 else { return try checkBody(input.dropFirst()) }
    var decoder = FrameDecoder(maximumByteCount: kind & 1 == 0 ? Frame.maximumByteCountBeforeHandshake : 1 << 20)
    decoder.skipsTooLong = kind & 2 == 2
    var rest = input.dropFirst(), bodyByteCount = 0
    while !rest.isEmpty {
      decoder.append(rest.prefix(Int(kind)))
      rest = rest.dropFirst(Int(kind))
      while let body = try? decoder.next() {
        bodyByteCount += body.count
        try Broken.unless(!body.isEmpty && body.count <= decoder.maximumByteCount, "a body of \(body.count) bytes")
        try checkBody(body[...])
      }
      try Broken.unless(decoder.bufferedByteCount + bodyByteCount <= input.count, "more bytes than came")
    }
  }

  private static func checkBody(_ body: ArraySlice<UInt8>) throws {
    guard let message = try? RepoMessage(body) else { return }
    let encoded = message.encoded()
    guard let again = try? RepoMessage(encoded) else { throw Broken(description: "\(message) cannot be read again") }
    try Broken.unless(again.encoded() == encoded, "\(message) becomes another message")
    switch message {
    case .ephemeral(let message): try checkPresence(message.data)
    case .document(let message): if let data = message.content.data { try checkSync(data) }
    case .other(let type, let fields): try check(type, fields)
    case .join(_, let metadata, _), .peer(_, _, let metadata, _):
      try Broken.unless(metadata.addresses.count <= 8, "\(metadata.addresses.count) addresses")
    case .leave, .error: break
    }
  }

  private static func checkPresence(_ data: Data) throws {
    guard let payload = (try? CBOR(data)).flatMap({ PresencePayload($0) }) else { return }
    let again = try CBOR(payload.cbor.encoded())
    try Broken.unless(PresencePayload(again) == payload, "\(payload) becomes another")
  }

  /// Reading the envelope alone and reading everything come to the same.
  private static func checkSync(_ data: Data) throws {
    let header = SyncHeader(data)
    guard let message = try? SyncMessageProbe(data) else { return }
    try Broken.unless(
      header.map { Set($0.heads).count } == message.headCount, "an envelope that only one of the readers understands")
  }

  private static func check(_ type: String, _ fields: [String: CBOR]) throws {
    if let (id, message) = InviteMessage.parse(type: type, fields) {
      let again = InviteMessage.parse(type: message.type, message.fields(of: id))
      try Broken.unless(again?.message == message && again?.invitation == id, "\(message) becomes another invitation")
      if case .offer(let offer) = message {
        for text in [offer.title, offer.name] { try WordShapes.checkLine(text, longest: KnownPeer.maximumNameLength) }
      }
    }
    if let message = TicketMessage(fields: fields) {
      try Broken.unless(TicketMessage(fields: message.fields) == message, "\(message) becomes another")
    }
    if let list = GuestList(fields: fields) {
      try Broken.unless(GuestList(fields: list.fields) == list, "\(list) becomes another")
      try Broken.unless(list.guests.count <= GuestList.maximumGuests, "\(list.guests.count) guests")
      try Broken.unless(Set(list.guests.map(\.peer)).count == list.guests.count, "a guest twice")
      for name in list.guests.compactMap(\.name) {
        try WordShapes.checkLine(name, longest: KnownPeer.maximumNameLength)
      }
    }
    if let move = DocumentMove(fields: fields, host: PeerId("host")) {
      let again = try CBOR(move.record.encoded(), limits: .stored)
      try Broken.unless(DocumentMove(record: again) == move, "\(move) becomes another")
      try Broken.unless(move.document != move.successor, "a document that moves to itself")
    }
    for item in fields["signatures"]?.array ?? [] {
      guard let data = item.bytes, let signature = ChangeSignature(encoded: data) else { continue }
      try Broken.unless(signature.encoded == data && signature.number > 0, "\(signature) becomes another")
      try Broken.unless(!signature.isValid || signature.change.bytes.count == 32, "no key of ours has signed this")
    }
    for document in fields["documents"]?.array ?? [] {
      guard let heads = document["heads"]?.bytes.flatMap(StoredHeads.decode) else { continue }
      try Broken.unless(StoredHeads.decode(StoredHeads.encode(heads)) == heads, "heads that become others")
    }
    // The same as a record of the store, which another program may have written.
    let record = CBOR.map(fields.sorted { $0.key < $1.key }.map { CBOR.Entry(.text($0.key), $0.value) })
    let peer = KnownPeer(record: record)
    try Broken.unless(KnownPeer(record: peer.record).record == peer.record, "\(peer) becomes another")
    var budget = OfferBudget(record: record, now: .seconds(5), date: Date(timeIntervalSince1970: 1e9))
    let taken = (0..<20).count { budget.begin([UInt8($0), 1], at: .seconds(5)) }
    try Broken.unless(taken <= OfferBudget.maximumBrokenOff, "\(taken) offers of one moment")
  }
}

/// How many heads a whole sync message has.
private struct SyncMessageProbe {
  let headCount: Int

  init(_ data: Data) throws {
    let state = SyncState()
    try Document().receiveSyncMessage(state: state, message: data)
    headCount = state.theirHeads?.count ?? 0
  }
}

import Foundation

/// Messages about documents are written and read without building a tree of CBOR values, because every keystroke sends
/// one.
extension RepoMessage.DocumentMessage {
  /// The message as one CBOR map, in automerge-repo's form.
  func encoded() -> [UInt8] {
    let data = content.data
    var writer = CBORWriter(reserving: 256 + (data?.count ?? 0))
    writer.map(data == nil ? 4 : 5)
    writer.text("type")
    writer.text(content.type)
    writer.text("senderId")
    writer.text(senderId.description)
    writer.text("targetId")
    writer.text(targetId.description)
    writer.text("documentId")
    writer.text(documentId.description)
    if let data {
      writer.text("data")
      writer.bytes(data)
    }
    return writer.output
  }

  /// Reads a `sync` or `request` in exactly the form that `encoded` writes. Nil for anything else, valid or not: the
  /// caller reads that as CBOR.
  init?(plain encoded: some Collection<UInt8>) {
    let read: Self?? = encoded.withContiguousStorageIfAvailable { bytes in
      var reader = PlainReader(bytes: bytes)
      return Self(&reader)
    }
    guard case .some(.some(let message)) = read else { return nil }
    self = message
  }

  private init?(_ reader: inout PlainReader) {
    guard reader.skipMap(of: 5), reader.skipText("type") else { return nil }
    let isRequest = reader.skipText("request")
    guard isRequest || reader.skipText("sync"),
      reader.skipText("senderId"), let sender = reader.text(),
      reader.skipText("targetId"), let target = reader.text(),
      reader.skipText("documentId"), let id = reader.text().flatMap({ DocumentId($0) }),
      reader.skipText("data"), let data = reader.lastBytes()
    else { return nil }
    self.init(
      senderId: PeerId(sender), targetId: PeerId(target), documentId: id,
      content: isRequest ? .request(data) : .sync(data))
  }
}

extension RepoMessage.Content {
  /// The message's type on the wire.
  fileprivate var type: String {
    switch self {
    case .request: "request"
    case .sync: "sync"
    case .unavailable: "doc-unavailable"
    }
  }
}

/// Reads CBOR in the one form that is expected. Each method returns nil or false if something else follows.
private struct PlainReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0

  /// The lengths of texts in the expected form: one byte holds them.
  private static let textByteCounts = 1..<256

  mutating func skipMap(of count: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == 0xa0 | count else { return false }
    position += 1
    return true
  }

  /// - Parameter text: shorter than 24 bytes.
  mutating func skipText(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position > count, bytes[position] == 0x60 | UInt8(count) else { return false }
    for index in 0..<count where bytes[position + 1 + index] != text.utf8Start[index] { return false }
    position += 1 + count
    return true
  }

  mutating func text() -> String? {
    guard let count = length(major: 3), Self.textByteCounts.contains(count), count <= bytes.count - position else {
      return nil
    }
    defer { position += count }
    return String(validating: UnsafeBufferPointer(rebasing: bytes[position..<position + count]), as: UTF8.self)
  }

  /// A byte string that is not empty and ends the message.
  mutating func lastBytes() -> Data? {
    guard let count = length(major: 2), count > 0, count == bytes.count - position else { return nil }
    return Data(UnsafeBufferPointer(rebasing: bytes[position...]))
  }

  private mutating func length(major: UInt8) -> Int? {
    guard position < bytes.count, bytes[position] >> 5 == major else { return nil }
    let info = bytes[position] & 31
    position += 1
    guard info >= 24 else { return Int(info) }
    // A length takes one, two or four bytes; no message needs eight.
    guard info <= 26 else { return nil }
    let byteCount = 1 << (Int(info) - 24)
    guard byteCount <= bytes.count - position else { return nil }
    defer { position += byteCount }
    return bytes[position..<position + byteCount].reduce(0) { $0 << 8 | Int($1) }
  }
}

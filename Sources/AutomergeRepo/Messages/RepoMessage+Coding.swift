import Foundation

extension RepoMessage {
  /// The longest message that carries no changes: `heads` of a thousand documents, each with many heads.
  /// Source: PeerProtocol.md, "Links".
  private static let shortByteCount = 1 << 20

  /// The message as one CBOR map, in automerge-repo's form.
  public func encoded() -> [UInt8] {
    switch self {
    case .join(let senderId, let metadata, let versions):
      CBOR.record([
        "type": "join", "senderId": senderId.cbor, "peerMetadata": metadata.cbor,
        "supportedProtocolVersions": .array(versions.map { .text($0) }),
      ]).encoded()
    case .peer(let senderId, let targetId, let metadata, let version):
      CBOR.record([
        "type": "peer", "senderId": senderId.cbor, "targetId": targetId?.cbor, "peerMetadata": metadata.cbor,
        "selectedProtocolVersion": version.map { .text($0) },
      ]).encoded()
    case .leave(let senderId):
      CBOR.record(["type": "leave", "senderId": senderId.cbor]).encoded()
    case .error(let senderId, let targetId, let message):
      CBOR.record(["type": "error", "senderId": senderId?.cbor, "targetId": targetId?.cbor, "message": .text(message)])
        .encoded()
    case .document(let message):
      message.encoded()
    case .ephemeral(let message):
      CBOR.record([
        "type": "ephemeral", "senderId": message.senderId.cbor, "targetId": message.targetId.cbor,
        "documentId": message.documentId.cbor, "count": .unsigned(message.count), "sessionId": .text(message.sessionId),
        "data": .bytes(message.data),
      ]).encoded()
    case .other(let type, let fields):
      CBOR.map(
        [CBOR.Entry("type", .text(type))]
          + fields.sorted { $0.key < $1.key }.filter { $0.key != "type" }.map { CBOR.Entry(.text($0.key), $0.value) }
      ).encoded()
    }
  }

  /// Reads one message. Skips unknown fields; treats `undefined` as missing.
  public init(_ encoded: some Collection<UInt8>) throws(RepoMessageError) {
    if let message = DocumentMessage(plain: encoded) {
      self = .document(message)
      return
    }
    let value: CBOR
    do {
      value = try CBOR(encoded, limits: .wire)
    } catch {
      throw .notCBOR(error)
    }
    guard let type = value["type"]?.text else { throw .notAMessage }
    guard encoded.count <= Self.shortByteCount || ["request", "sync"].contains(type) else {
      throw .tooLong(type: type, byteCount: encoded.count)
    }
    let fields = Fields(type: type, value: value)
    switch type {
    case "join":
      self = .join(senderId: try fields.peer("senderId"), metadata: fields.metadata, versions: fields.versions)
    case "peer":
      self = .peer(
        senderId: try fields.peer("senderId"), targetId: fields.optionalPeer("targetId"), metadata: fields.metadata,
        version: value["selectedProtocolVersion"]?.text)
    case "leave":
      self = .leave(senderId: try fields.peer("senderId"))
    case "error":
      self = .error(
        senderId: fields.optionalPeer("senderId"), targetId: fields.optionalPeer("targetId"),
        message: value["message"]?.text ?? "")
    case "request":
      self = .document(try fields.documentMessage { (fields) throws(RepoMessageError) in .request(try fields.data()) })
    case "sync":
      self = .document(try fields.documentMessage { (fields) throws(RepoMessageError) in .sync(try fields.data()) })
    case "doc-unavailable":
      self = .document(try fields.documentMessage { _ in .unavailable })
    case "ephemeral":
      guard let count = value["count"]?.unsigned else { throw .badField(type: type, field: "count") }
      guard let sessionId = value["sessionId"]?.text else { throw .badField(type: type, field: "sessionId") }
      self = .ephemeral(
        EphemeralMessage(
          senderId: try fields.peer("senderId"), targetId: try fields.peer("targetId"),
          documentId: try fields.document(), count: count, sessionId: sessionId, data: try fields.data()))
    default:
      self = .other(type: type, fields: fields.others)
    }
  }

  /// Reads the fields of one message of a known type.
  private struct Fields {
    let type: String
    let value: CBOR

    func peer(_ field: String) throws(RepoMessageError) -> PeerId {
      guard let text = value[field]?.text, !text.isEmpty else { throw .badField(type: type, field: field) }
      return PeerId(text)
    }

    func optionalPeer(_ field: String) -> PeerId? { value[field]?.text.map { PeerId($0) } }

    /// Text, or the bare bytes, which some implementations send.
    func document() throws(RepoMessageError) -> DocumentId {
      let field = value["documentId"]
      if let id = field?.text.flatMap({ DocumentId($0) }) { return id }
      if let id = field?.bytes.flatMap({ DocumentId(bytes: Array($0)) }) { return id }
      throw .badField(type: type, field: "documentId")
    }

    func data() throws(RepoMessageError) -> Data {
      guard let data = value["data"]?.bytes, !data.isEmpty else { throw .badField(type: type, field: "data") }
      return data
    }

    func documentMessage(
      _ content: (Fields) throws(RepoMessageError) -> Content
    ) throws(RepoMessageError) -> DocumentMessage {
      DocumentMessage(
        senderId: try peer("senderId"), targetId: try peer("targetId"), documentId: try document(),
        content: try content(self))
    }

    /// The README of automerge-repo calls this field `metadata`, its code `peerMetadata`.
    var metadata: PeerMetadata { PeerMetadata(value["peerMetadata"] ?? value["metadata"] ?? .null) }

    /// A list, or a single text. A peer that names no version speaks version 1.
    var versions: [String] {
      switch value["supportedProtocolVersions"] {
      case nil: ["1"]
      case .text(let version)?: [version]
      case .some(let value): value.array?.compactMap(\.text) ?? []
      }
    }

    var others: [String: CBOR] {
      var others: [String: CBOR] = [:]
      for entry in value.entries ?? [] {
        if let key = entry.key.text, key != "type" { others[key] = entry.value }
      }
      return others
    }
  }
}

extension PeerMetadata {
  fileprivate var cbor: CBOR {
    .record([
      "name": name.map { .text($0) }, "addresses": addresses.isEmpty ? nil : .array(addresses.map { .text($0) }),
      "storageId": storageId.map { .text($0.description) }, "isEphemeral": .bool(isEphemeral), "call": call?.cbor,
    ])
  }

  fileprivate init(_ value: CBOR) {
    self.init(
      name: value["name"]?.text, storageId: value["storageId"]?.text.map { StorageId($0) },
      isEphemeral: value["isEphemeral"]?.bool ?? false,
      addresses: Array((value["addresses"]?.array ?? []).compactMap(\.text).prefix(8)))
    call = value["call"].flatMap { CallMark($0) }
  }
}

extension PeerId {
  fileprivate var cbor: CBOR { .text(description) }
}

extension DocumentId {
  fileprivate var cbor: CBOR { .text(description) }
}

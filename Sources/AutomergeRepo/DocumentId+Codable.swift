import Foundation

extension DocumentId: Comparable, Identifiable, LosslessStringConvertible {
  /// Its text, as automerge-repo calls it.
  public var id: String { description }

  /// By bytes, on every machine the same.
  public static func < (left: DocumentId, right: DocumentId) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

extension DocumentId {
  /// A new one, at random.
  public init() {
    var random = SystemRandomNumberGenerator()
    self = .random(using: &random)
  }

  /// The one that has a UUID's bytes.
  public init(_ uuid: UUID) {
    let id = withUnsafeBytes(of: uuid.uuid) { DocumentId(bytes: Array($0)) }
    // A UUID has 16 bytes.
    self = id ?? DocumentId()
  }
}

extension DocumentId: Codable {
  private enum Field: String, CodingKey { case id }

  /// Reads its text, or automerge-repo-swift's form, an object with the text at `id`.
  public init(from decoder: any Decoder) throws {
    let text: String
    if let single = try? decoder.singleValueContainer().decode(String.self) {
      text = single
    } else {
      text = try decoder.container(keyedBy: Field.self).decode(String.self, forKey: .id)
    }
    guard let id = DocumentId(text) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not the id of a document"))
    }
    self = id
  }

  /// As its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

import Foundation

extension DocumentId: Comparable, Identifiable, LosslessStringConvertible {
  /// The id's text, as automerge-repo calls it.
  public var id: String { description }

  /// Compares the bytes, which gives the same order on every machine.
  public static func < (left: DocumentId, right: DocumentId) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

extension DocumentId {
  /// Makes a new random id.
  public init() {
    var random = SystemRandomNumberGenerator()
    self = .random(using: &random)
  }

  /// The id with a UUID's bytes.
  public init(_ uuid: UUID) {
    let id = withUnsafeBytes(of: uuid.uuid) { DocumentId(bytes: Array($0)) }
    // Never nil, as a UUID has 16 bytes.
    self = id ?? DocumentId()
  }
}

extension DocumentId: Codable {
  private enum Field: String, CodingKey { case id }

  /// Reads the id's text, or automerge-repo-swift's form, an object with the text at `id`.
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

  /// Writes the id's text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

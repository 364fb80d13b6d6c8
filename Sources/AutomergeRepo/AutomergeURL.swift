import Automerge
import Foundation

/// The URL of a document: `automerge:` and its id; then, if it names a part, the part's path, and if it names a version, `#` and the
/// version's heads.
///
///     automerge:4NMNnkMhL8jXrdJ9jamS58PAVdXu/agenda/0#2mTLr…|2vrpt…
public struct AutomergeURL: Hashable, Sendable {
  /// Longer texts are refused unread.
  private static let maximumByteCount = 8 << 10
  private static let scheme = "automerge:"

  public var documentId: DocumentId
  /// The keys and indices that lead to a part of the document; empty for the whole.
  public var path: [String]
  /// The heads of the version that is meant; empty for the present one.
  public var heads: Set<ChangeHash>

  public init(_ documentId: DocumentId, path: [String] = [], heads: Set<ChangeHash> = []) {
    (self.documentId, self.path, self.heads) = (documentId, path, heads)
  }
}

extension AutomergeURL: LosslessStringConvertible {
  /// Nil unless `text` is `automerge:`, an id with its checksum, and perhaps a path and heads.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.maximumByteCount, text.hasPrefix(Self.scheme) else { return nil }
    let parts = text.dropFirst(Self.scheme.count).split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
    guard !names[0].hasPrefix(Self.scheme), let id = DocumentId(String(names[0])) else { return nil }
    self.init(id)
    for name in names.dropFirst() {
      guard let plain = name.removingPercentEncoding, !plain.isEmpty else { return nil }
      path.append(plain)
    }
    guard parts.count > 1 else { return }
    for head in parts[1].split(separator: "|", omittingEmptySubsequences: false) {
      guard let hash = Base58Check.decode(head).flatMap({ ChangeHash(bytes: $0) }) else { return nil }
      heads.insert(hash)
    }
  }

  /// Lists the heads in order, so that one version has one text.
  public var description: String {
    let names = path.map { "/" + ($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") }
    let versions = heads.sorted().map { Base58Check.encode($0.bytes) }
    return Self.scheme + documentId.description + names.joined()
      + (versions.isEmpty ? "" : "#" + versions.joined(separator: "|"))
  }
}

extension AutomergeURL: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let url = AutomergeURL(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the URL of a document")
    }
    self = url
  }

  /// Writes the URL's text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

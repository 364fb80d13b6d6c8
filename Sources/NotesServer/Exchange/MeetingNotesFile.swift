import AutomergeRepo
import Foundation

/// A `.meetingnotes` file: a CBOR map of a document's `id` and its Automerge bytes as `data`.
///
/// The id has had three forms: a map of its text and its bytes, which is the one of our own files; the text alone; and the bytes
/// of a UUID under tag 37.
public struct MeetingNotesFile: Hashable, Sendable {
  public var id: DocumentId
  /// A document in Automerge's format, which is not decoded here.
  public var data: Data
  /// The id in its written form. A file that is written again keeps the form that its program chose.
  private let writtenId: CBOR

  init(id: DocumentId, data: Data) {
    (self.id, self.data) = (id, data)
    writtenId = .record(["id": .text(id.description), "data": .bytes(Data(id.bytes))])
  }

  /// Nil if the bytes are not a `.meetingnotes` file.
  public init?(_ bytes: [UInt8]) {
    guard let file = try? CBOR(bytes, limits: .stored.keepingTags), let data = file["data"]?.bytes,
      let writtenId = file["id"], let id = Self.id(writtenId)
    else { return nil }
    (self.id, self.data, self.writtenId) = (id, data, writtenId)
  }

  public var encoded: [UInt8] {
    CBOR.record(["id": writtenId, "data": .bytes(data)]).encoded()
  }

  private static func id(_ value: CBOR) -> DocumentId? {
    switch value {
    case .bytes(let bytes): DocumentId(bytes: Array(bytes))
    case .text(let text): DocumentId(text) ?? UUID(uuidString: text).flatMap { DocumentId(bytes: $0.bytes) }
    case .map:
      value["data"]?.bytes.flatMap { DocumentId(bytes: Array($0)) } ?? value["id"]?.text.flatMap { DocumentId($0) }
    case .tagged(_, let inner): id(inner)
    case .unsigned, .negative, .array, .bool, .null, .undefined, .float, .simple: nil
    }
  }
}

extension UUID {
  fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

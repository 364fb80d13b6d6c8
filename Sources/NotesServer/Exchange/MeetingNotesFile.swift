import AutomergeRepo
import Foundation

/// A `.meetingnotes` file: a CBOR map of a document's `id` and its Automerge bytes as `data`.
///
/// The id has had three forms: a map of its text and its bytes, which is the one we write; the text alone; and the bytes of a
/// UUID under tag 37.
public struct MeetingNotesFile: Hashable, Sendable {
  var id: DocumentId
  /// A document in Automerge's format; not decoded here.
  public var data: Data

  init(id: DocumentId, data: Data) { (self.id, self.data) = (id, data) }

  /// Nil if the bytes are not such a file.
  public init?(_ bytes: [UInt8]) {
    guard let file = try? CBOR(bytes, limits: .stored), let data = file["data"]?.bytes,
      let id = file["id"].flatMap(Self.id)
    else { return nil }
    self.init(id: id, data: data)
  }

  var encoded: [UInt8] {
    CBOR.record([
      "id": .record(["id": .text(id.description), "data": .bytes(Data(id.bytes))]), "data": .bytes(data),
    ]).encoded()
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

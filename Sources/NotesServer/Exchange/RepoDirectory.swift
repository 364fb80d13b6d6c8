import Automerge
import AutomergeRepo
import Cryptography
import Foundation

/// A directory of documents in automerge-repo's layout: `<first two letters of the id>/<the rest>/<kind>/<name>`, where the
/// kind is `snapshot` or `incremental`.
enum RepoDirectory {
  static let kinds = ["snapshot", "incremental"]

  /// The documents' ids, with the folders that contain their chunks.
  static func documents(in path: String, _ files: any WorkingFileAccess) async throws -> [(DocumentId, String)] {
    var found: [(DocumentId, String)] = []
    for first in try await files.names(in: path)?.sorted() ?? [] where first.utf8.count == 2 {
      for rest in try await files.names(in: "\(path)/\(first)")?.sorted() ?? [] {
        if let id = DocumentId(first + rest) { found.append((id, "\(path)/\(first)/\(rest)")) }
      }
    }
    return found
  }

  /// All chunks of one document; a damaged one does not affect the others.
  ///
  /// - Returns: nil if none could be used.
  static func load(_ folder: String, _ files: any WorkingFileAccess) async throws -> ForeignFile? {
    var chunks: [Data] = []
    for kind in kinds {
      for name in try await files.names(in: "\(folder)/\(kind)")?.sorted() ?? [] {
        if let bytes = try await files.read("\(folder)/\(kind)/\(name)") { chunks.append(Data(bytes)) }
      }
    }
    return await join(chunks)
  }

  @concurrent
  private static func join(_ chunks: [Data]) async -> ForeignFile? {
    let document = Document()
    let rejected = document.applyChunks(chunks, areOwn: false)
    guard !document.heads().isEmpty else { return nil }
    return ForeignFile(document, isDamaged: !rejected.isEmpty)
  }

  /// The path of a document's snapshot, named by its content.
  static func snapshotPath(of id: DocumentId, holding bytes: [UInt8], in path: String) -> String {
    let text = id.description
    return "\(path)/\(text.prefix(2))/\(text.dropFirst(2))/snapshot/\(hexadecimal(SHA256.hash(data: bytes)))"
  }
}

import Foundation

/// What a file contains at one place: a chunk, or bytes that are not a chunk.
public struct ChunkReport: Sendable {
  public enum Kind: String, Sendable { case document, change, bundle, unreadable }

  public let kind: Kind
  /// In bytes from the start of the file.
  public let offset: Int
  public let byteCount: Int
  /// How many changes the chunk contains; 0 if it cannot be used.
  public let changeCount: Int
  /// The changes that the chunk contains one by one; empty for a document, which is used as a whole.
  public let changes: [ChangeHash]
  /// Why the chunk cannot be used; nil if it can.
  public let error: LoadError?

  /// All chunks of a file, each examined separately. Whether their changes fit together is for `Document.init` to
  /// check.
  public static func of(_ file: Data) -> [ChunkReport] {
    var reports: [ChunkReport] = [], reader = ChunkReader(Array(file)), offset = 0
    while let next = reader.next() {
      let byteCount = reader.offset - offset
      switch next {
      case .failure(let error):
        reports.append(
          ChunkReport(
            kind: .unreadable, offset: offset, byteCount: byteCount, changeCount: 0, changes: [], error: .format(error))
        )
      case .success(let chunk):
        let (count, changes, error) = contents(chunk)
        reports.append(
          ChunkReport(
            kind: Kind(chunk.kind), offset: offset, byteCount: byteCount, changeCount: count, changes: changes,
            error: error))
      }
      offset = reader.offset
    }
    return reports
  }

  private static func contents(_ chunk: Chunk) -> (Int, [ChangeHash], LoadError?) {
    do throws(LoadError) {
      switch chunk.kind {
      case .document: return (try DocumentDecoder.decode(chunk).graph.count, [], nil)
      case .change, .compressedChange:
        return (1, [try ChangeDecoder.decode(chunk).hash], nil)
      case .bundle:
        let changes = try BundleDecoder.decode(chunk)
        return (changes.count, changes.map(\.hash), nil)
      }
    } catch {
      return (0, [], error)
    }
  }
}

extension ChunkReport.Kind {
  fileprivate init(_ kind: Chunk.Kind) {
    switch kind {
    case .document: self = .document
    case .change, .compressedChange: self = .change
    case .bundle: self = .bundle
    }
  }
}

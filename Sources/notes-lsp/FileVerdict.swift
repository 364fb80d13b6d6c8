import Automerge
import Foundation

/// The findings of `notes-lsp validate` about one file.
struct FileVerdict {
  /// A change that was read but is not part of the document.
  private struct Untaken {
    var hash: ChangeHash
    var offset: Int
    var reason: String
  }

  let file: String
  private let isContained: Bool
  /// How many bytes precede the document.
  private let start: Int
  private let chunks: [ChunkReport]
  private let heads: [String]
  private let changeCount: Int
  private let untaken: [Untaken]
  /// Why nothing in the file can be used, even though its chunks may be sound.
  private let error: String?
  /// Whether there is nothing to judge, for the same reason.
  private let isUnreadable: Bool
  /// Whether the file is of another kind: it does not begin as an Automerge file, and has no part of one.
  let isForeign: Bool

  init(_ file: String) throws {
    self.file = file
    let bytes: Data
    do {
      (bytes, start, isContained) = DocumentFile.document(in: try DocumentFile.read(file))
    } catch let failure as Failure {
      (start, isContained, chunks, heads, changeCount, untaken) = (0, false, [], [], 0, [])
      (error, isUnreadable, isForeign) = (failure.message, true, false)
      return
    }
    isUnreadable = false
    chunks = ChunkReport.of(bytes)
    // A file whose beginning is damaged may still contain chunks.
    isForeign = !bytes.starts(with: DocumentFile.magic) && chunks.allSatisfy { $0.kind == .unreadable }
    guard !isForeign else {
      (heads, changeCount, untaken) = ([], 0, [])
      error = "not an Automerge document" + (bytes.isEmpty ? ": it is empty" : "")
      return
    }
    do {
      let document = try Document(bytes)
      untaken = Self.untaken(chunks, of: bytes, by: document)
      (heads, changeCount, error) = (document.headNames, document.getHistory().count, nil)
    } catch let error as LoadError {
      (heads, changeCount, untaken, self.error) = ([], 0, [], error.sentence)
    }
  }

  private static func untaken(_ chunks: [ChunkReport], of bytes: Data, by document: Document) -> [Untaken] {
    let missing = document.unknown(Set(chunks.flatMap(\.changes)))
    var found: [Untaken] = []
    for chunk in chunks {
      let hashes = chunk.changes.filter { missing.contains($0) }
      guard !hashes.isEmpty else { continue }
      var reason = "it depends on a change that is not there"
      let start = bytes.startIndex + chunk.offset
      do {
        try document.applyEncodedChanges(encoded: bytes[start..<start + chunk.byteCount])
      } catch let error as LoadError {
        reason = error.sentence
      } catch {
        reason = error.localizedDescription
      }
      found += hashes.map { Untaken(hash: $0, offset: chunk.offset, reason: reason) }
    }
    return found
  }

  var isGood: Bool { error == nil && untaken.isEmpty && chunks.allSatisfy { $0.error == nil } }

  var line: String {
    if isUnreadable, let error { return error }
    if isForeign, let error { return "\(file): \(error)" }
    let usable = counted(changeCount, "change")
    guard !isGood else { return "\(file): good, \(usable)" }
    let faults = chunks.compactMap { chunk in
      chunk.error.map { "damaged at byte \(start + chunk.offset): \($0.sentence)" }
    }
    let left = untaken.map {
      "change \($0.hash.description.prefix(8)) at byte \(start + $0.offset) was not taken: \($0.reason)"
    }
    let whole = faults.isEmpty && left.isEmpty ? [error.map { "damaged: \($0)" }].compactMap(\.self) : []
    return "\(file): " + (faults + left + whole + ["\(usable) can be used"]).joined(separator: "; ")
  }

  var json: DumpedJSON {
    .object([
      ("file", .string(file)), ("ok", .bool(isGood)), ("container", isContained ? .string("meetingnotes") : .null),
      ("heads", .array(heads.map { .string($0) })), ("changes", .number(changeCount)),
      ("error", error.map { .string($0) } ?? .null),
      (
        "untaken",
        .array(
          untaken.map {
            .object([
              ("change", .string($0.hash.description)), ("offset", .number(start + $0.offset)),
              ("reason", .string($0.reason)),
            ])
          })
      ),
      ("chunks", .array(chunks.map(json))),
    ])
  }

  private func json(_ chunk: ChunkReport) -> DumpedJSON {
    .object([
      ("kind", .string(chunk.kind.rawValue)), ("offset", .number(start + chunk.offset)),
      ("bytes", .number(chunk.byteCount)), ("changes", .number(chunk.changeCount)),
      ("error", chunk.error.map { .string($0.sentence) } ?? .null),
    ])
  }
}

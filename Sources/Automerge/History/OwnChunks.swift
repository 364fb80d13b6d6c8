import Foundation

/// Reads what this replica has written: chunks of a store, without the limits for foreign bytes. Changes that were accepted one by
/// one, each within its limits, may take so few bytes together that these would refuse them.
enum OwnChunks {
  /// Applies chunks that may depend on one another in any order. Sorts them first: if thousands were applied in the
  /// given order, nearly all would wait for a later one, and most would be dropped.
  ///
  /// - Returns: the indices of the chunks that cannot be used
  static func apply(_ chunks: [Data], to document: Document) -> [Int] {
    guard fault(of: chunks, in: document) != nil else { return [] }
    // Bytes that are not a chunk may hide the chunks after them.
    let isReadable = chunks.map { takes($0, in: Document()) }
    _ = fault(of: chunks.indices.filter { isReadable[$0] }.map { chunks[$0] }, in: document)
    return chunks.indices.filter { !isReadable[$0] || !takes(chunks[$0], in: document) }
  }

  /// Applies everything good. Returns the first error, even if everything else is good.
  private static func fault(of chunks: [Data], in document: Document) -> LoadError? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chunks.reduce(0) { $0 + $1.count })
    for chunk in chunks { bytes += chunk }
    guard !bytes.isEmpty else { return nil }
    var filter: AuthorFilter? = AuthorFilter(attested: [:])
    do throws(LoadError) { try take(bytes, into: document, &filter) } catch { return error }
    return filter?.fault
  }

  /// Applies one. False if nothing in it is good.
  private static func takes(_ chunk: Data, in document: Document) -> Bool {
    var filter: AuthorFilter?
    do throws(LoadError) { try take(Array(chunk), into: document, &filter) } catch { return false }
    return true
  }

  private static func take(
    _ bytes: [UInt8], into document: Document, _ filter: inout AuthorFilter?
  ) throws(LoadError) {
    var edits: TextEditCollector?
    try document.replacingCore { (core) throws(LoadError) in
      core = try core.take(bytes[...], edits: &edits, filter: &filter, denseOps: FormatLimits.rows)
      try core.expectNoEqualActors()
    }
  }
}

import Foundation

/// The chunks of a store or a folder, which may depend on one another in any order.
struct UnorderedChunks {
  let document: Document
  /// Whether this replica wrote them. Changes that it accepted one by one, each within the limits for foreign bytes, may take so few
  /// bytes together that these limits would refuse them.
  let areOwn: Bool

  /// Sorts the chunks first: if thousands were applied in the given order, nearly all would wait for a later one, and most would be
  /// dropped.
  ///
  /// - Returns: the indices of the chunks that cannot be used
  func apply(_ chunks: [Data]) -> [Int] {
    guard let first = fault(of: chunks) else { return [] }
    // One by one, they would take as much memory as together.
    if first == .format(.tooMany(limit: FormatLimits.denseOps, at: 0)) { return Array(chunks.indices) }
    // Bytes that are not a chunk may hide the chunks after them.
    let isReadable = chunks.map { UnorderedChunks(document: Document(), areOwn: areOwn).takes($0) }
    _ = fault(of: chunks.indices.filter { isReadable[$0] }.map { chunks[$0] })
    return chunks.indices.filter { !isReadable[$0] || !takes(chunks[$0]) }
  }

  /// Applies everything good. Returns the first error, even if everything else is good.
  private func fault(of chunks: [Data]) -> LoadError? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chunks.reduce(0) { $0 + $1.count })
    for chunk in chunks { bytes += chunk }
    guard !bytes.isEmpty else { return nil }
    var filter: AuthorFilter? = AuthorFilter(attested: [:])
    do throws(LoadError) { try take(bytes, &filter) } catch { return error }
    return filter?.fault
  }

  /// Applies one. False if nothing in it is good.
  private func takes(_ chunk: Data) -> Bool {
    var filter: AuthorFilter?
    do throws(LoadError) { try take(Array(chunk), &filter) } catch { return false }
    return true
  }

  private func take(_ bytes: [UInt8], _ filter: inout AuthorFilter?) throws(LoadError) {
    var edits: TextEditCollector?
    try document.replacingCore { (core) throws(LoadError) in
      core = try core.take(bytes[...], edits: &edits, filter: &filter, isOwn: areOwn)
      try core.expectNoEqualActors()
    }
  }
}

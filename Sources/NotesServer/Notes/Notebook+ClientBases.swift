import AutomergeRepo
import Foundation

/// Texts that once equalled a note: what clients had, and what its file held.
extension Notebook {
  /// What the client of the named run had; none if the run died before it stored any. Without a name: what the clients of all
  /// runs had, latest first.
  func clientBases(of key: NoteKey, uri: String? = nil, run: String?) async throws(StorageError) -> [TextBase] {
    if let run {
      for buffer in [uri.map { BufferKey(key, uri: $0) }, BufferKey(key)].compactMap(\.self) {
        let data = try await storage.load(ClientBase.key(key, run: buffer.record(of: run)))
        if let client = data.flatMap({ ClientBase($0) }) { return [client.base] }
      }
      return []
    }
    let bases = try await clients(ClientBase.collection, of: key).map(\.base)
    return bases.isEmpty ? [self[key]?.earlierClientBase].compactMap(\.self) : bases
  }

  /// What the editors of all processes had of a text when that was last stored, latest first: one may have written it to the
  /// file, over words of another program that it did not show yet, and its service may have been killed before it was told.
  func editorTexts(of key: NoteKey) async throws(StorageError) -> [TextBase] {
    try await clients(ClientBase.collection, of: key).flatMap(\.texts)
  }

  /// What the file holds, and what it held before that, latest first.
  func fileBases(of key: NoteKey) async throws(StorageError) -> [TextBase] {
    try await loadBase(of: key)
    return self[key]?.fileBases ?? []
  }

  /// What the clients had whose buffers stayed when the note was put away, latest first.
  func leftBases(of key: NoteKey) async throws(StorageError) -> [TextBase] {
    try await clients(ClientBase.leftCollection, of: key).map(\.base)
  }

  private func clients(_ collection: String, of key: NoteKey) async throws(StorageError) -> [ClientBase] {
    let prefix = [collection] + key.names
    let found = try await storage.loadRange(prefix).filter { $0.key.count == prefix.count + 1 }
    return found.compactMap { ClientBase($0.data) }.sorted { $0.time > $1.time }
  }

  /// Call when this process's client has closed the note.
  func forgetClientBase(of key: NoteKey, run: String) async throws(StorageError) {
    try await storage.commit([.remove(ClientBase.key(key, run: run)), .remove(ClientBase.key(key, run: run, .opened))])
  }

  /// Drops what clients had so long ago that they cannot be running any more, and what they had written to files, or found
  /// there, as long ago.
  func forgetClientBases(before limit: Date) async throws(StorageError) {
    var old: [StorageKey] = []
    for (collection, kept) in [(ClientBase.collection, Self.keptClientBases), (ClientBase.leftCollection, 0)] {
      let bases = try await storage.loadRange([collection]).map { (key: $0.key, time: ClientBase($0.data)?.time) }
      for (_, ofNote) in Dictionary(grouping: bases, by: { $0.key.dropLast() }) {
        old += ofNote.filter { $0.time == nil }.map(\.key)
        let readable = ofNote.filter { $0.time != nil }.sorted { ($0.time ?? limit) > ($1.time ?? limit) }
        let had = readable.filter { !ClientBase.isOfFile($0.key) }.dropFirst(kept)
        let ofFiles = readable.filter { ClientBase.isOfFile($0.key) }.dropFirst(Self.keptFileTexts)
        old += (ofFiles + had).filter { ($0.time ?? limit) < limit }.map(\.key)
      }
    }
    if !old.isEmpty { try await storage.commit(old.map { .remove($0) }) }
  }

  /// This many of a note stay, however old: the calendar may have jumped, and their editors may still run.
  static let keptClientBases = 32
  /// The same for what they have written to the file, or found there: fewer, because each change of the file is compared with them.
  static let keptFileTexts = 4
}

import AutomergeRepo
import Foundation
import Logging

/// Follows the working file of a note that no editor has open when a person renames or moves it with another program, such as
/// `mv`: the file stays the note's, and its new name becomes the note's title.
///
///     a file that is no note's ──one note's file is missing, and had this text──► the note's file
@AutomergeRepo
final class MovedFiles {
  /// The most notes whose missing files are compared.
  private static let maximumCandidates = 16
  /// The most folders that are read to find out which files are missing.
  private static let maximumFolders = 64
  /// The most files that are no note's and are read when the service starts.
  private static let maximumUnknownFiles = 256
  /// A longer file is not read for this.
  private static let maximumBytes = 1 << 20

  private let environment: ServiceEnvironment
  weak var planner: (any WorkingFilePlanner)?
  private let log = Logger(label: "files")

  private var notebook: Notebook { environment.notebook }

  init(_ environment: ServiceEnvironment) { self.environment = environment }

  /// Whether this may be the name of a note's file. Names of backups and unfinished files are not.
  static func mayBeNote(_ path: String) -> Bool {
    FilePlace(path).map { !$0.ending.isEmpty && !$0.name.hasPrefix(".") } ?? false
  }

  /// Call when a file is found that is no note's.
  func found(_ path: String) async {
    let path = notebook.folder.named(path)
    guard Self.mayBeNote(path), notebook.isLoaded, let place = FilePlace(path) else { return }
    do {
      try await follow(place, among: try await missingFiles())
    } catch {
      log.warning("Whether \(path) is a note's file under another name is not known: \(error)")
    }
  }

  /// Finds the files that were moved while no service was running: those that are in the folder where they were, or in the notes directory.
  func findAll() async {
    do {
      let missing = try await missingFiles()
      guard !missing.isEmpty else { return }
      var unknown: [String] = []
      for folder in Set(missing.map(\.folder)).union([environment.notesDirectory]).sorted() {
        let paths = try await environment.files.names(in: folder)?.map { folder + "/" + $0 } ?? []
        unknown += paths.filter { notebook.record(atPath: $0) == nil && Self.mayBeNote($0) }
      }
      for place in unknown.sorted().prefix(Self.maximumUnknownFiles).compactMap({ FilePlace($0) }) {
        try await follow(place, among: missing)
      }
    } catch {
      log.warning("Whether notes' files were moved is not known: \(error)")
    }
  }

  private func follow(_ place: FilePlace, among missing: [FilePlace]) async throws {
    let candidates = candidates(for: place, among: missing)
    guard !candidates.isEmpty, notebook.record(atPath: place.path) == nil,
      case .found(let bytes, let mark) = try await environment.files.look(place.path, since: nil),
      mark.byteCount <= Self.maximumBytes, let contents = try? await FileContents.reading(bytes, known: nil)
    else { return }
    let wordCount = Words.count(contents.text)
    guard wordCount > 0 else { return }
    var matches: [NoteRecord] = []
    for record in candidates where record.words == wordCount || record.isFileOutdated {
      if try await had(contents, record) { matches.append(record) }
    }
    guard matches.count == 1, let record = matches.first, let old = record.path.flatMap({ FilePlace($0) }),
      let claim = environment.files.claim(record.key.lockName, exclusively: true)
    else { return }
    defer { withExtendedLifetime(claim) {} }
    // Another process may have followed the file, or an editor opened the note.
    try await notebook.refresh(record.key)
    guard notebook[record.key]?.path == old.path, notebook.record(atPath: place.path) == nil, isFree(record),
      try await isMissing(old), case .found(let handle) = await environment.repo.search(record.id), isFree(record)
    else { return }
    let title = try newTitle(of: record, from: old, to: place, handle)
    notebook.update(record.key) {
      $0.path = place.path
      if let title { ($0.title, $0.modified) = (title, environment.clock.date) }
    }
    log.notice("The file \(old.path) was moved to \(place.path).")
    try await notebook.save(record.key, withBase: false)
    planner?.plan(handle, text: nil)
  }

  /// Gives the note the name of its file. Nil if the file has kept its name, had another name than the note, or belongs to a
  /// note that this person may only read.
  private func newTitle(
    of record: NoteRecord, from old: FilePlace, to new: FilePlace, _ handle: DocHandle
  ) throws -> String? {
    guard old.name != new.name, FileName.isName(old.name, forTitle: record.title),
      !FileName.isName(new.name, forTitle: record.title), environment.mayWrite(record.id),
      let note = NoteDocument(handle.document)
    else { return nil }
    let title = FileName.title(ofFile: new.name)
    try handle.change { _ in try note.rename(to: title) }
    return title
  }

  private func isFree(_ record: NoteRecord) -> Bool { !environment.openNotes.isInUse(record.key) }

  /// The notes whose files are missing: those of the same folder, or all in the notes directory if the file is there.
  private func candidates(for place: FilePlace, among missing: [FilePlace]) -> [NoteRecord] {
    let root = environment.notesDirectory + "/"
    let found = missing.filter { old in
      old.ending == place.ending
        && (old.folder == place.folder || place.path.hasPrefix(root) && old.path.hasPrefix(root))
    }.compactMap { notebook.record(atPath: $0.path) }.filter { record in
      record.item == nil && record.deletedSince == nil && record.words > 0 && isFree(record)
    }
    return found.count <= Self.maximumCandidates ? found : []
  }

  /// The notes' files that are not where they should be.
  private func missingFiles() async throws -> [FilePlace] {
    let folders = await Self.folders(of: notebook.paths)
    guard folders.count <= Self.maximumFolders else { return [] }
    var missing: [FilePlace] = []
    for (folder, places) in folders.sorted(by: { $0.key < $1.key }) {
      let names = Set(try await environment.files.names(in: folder) ?? [])
      missing += places.filter { !names.contains($0.name) }
    }
    return missing
  }

  /// Off the loop, since a person may have ten thousand notes.
  @concurrent
  private static func folders(of paths: [String]) async -> [String: [FilePlace]] {
    Dictionary(grouping: paths.compactMap { FilePlace($0) }, by: \.folder)
  }

  private func isMissing(_ place: FilePlace) async throws -> Bool {
    try await environment.files.names(in: place.folder)?.contains(place.name) != true
  }

  /// Whether the note's file last had this text.
  private func had(_ contents: FileContents, _ record: NoteRecord) async throws -> Bool {
    guard case .found(let handle) = await environment.repo.search(record.id) else { return false }
    try await environment.loadBase(of: record.key)
    guard let note = NoteDocument(handle.document), let base = notebook[record.key]?.base(for: note) else {
      return false
    }
    return base.texts(of: note).contains { contents.text(besides: $0) == $0 }
  }
}

/// A path taken apart.
private struct FilePlace: Sendable {
  let path: String
  let folder: String
  let name: String
  /// A known ending of text files; empty if the name has none.
  let ending: String

  /// Nil if the path has no folder.
  init?(_ path: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return nil }
    (self.path, folder) = (path, String(path[..<slash]))
    name = String(path[path.utf8.index(after: slash)...])
    ending = FileName.ending(ofFile: name)
  }
}

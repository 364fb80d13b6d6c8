import AutomergeRepo
import Logging

/// A file in the notes directory that tells the editors which notes have their files elsewhere.
///
/// An editor must know whether a file that it opens is a note, and must not ask a service about every file. One line per note:
/// its id, a space, the path.
@AutomergeRepo
final class NotesElsewhere {
  static let fileName = ".elsewhere"

  private let environment: ServiceEnvironment
  private var written: [UInt8]?
  private var work: Task<Void, Never>?
  private var isOutdated = false
  private let log = Logger(label: "files")

  init(_ environment: ServiceEnvironment) { self.environment = environment }

  private var path: String { environment.notesDirectory + "/" + Self.fileName }

  /// Updates the file if it is out of date.
  func refresh() {
    isOutdated = true
    guard work == nil else { return }
    work = Task { @AutomergeRepo in
      while isOutdated {
        isOutdated = false
        await write()
      }
      work = nil
    }
  }

  /// Returns when the file is up to date.
  func settle() async {
    while let work { await work.value }
  }

  private func write() async {
    let list = list
    do {
      if written == nil { written = try await environment.files.read(path) ?? [] }
      guard list != written else { return }
      _ = try await environment.files.write(path, list, replacing: true)
      written = list
    } catch {
      log.warning("Editors cannot find the notes outside \(environment.notesDirectory): \(error)")
    }
  }

  private var list: [UInt8] {
    let prefix = environment.notesDirectory + "/"
    var lines: [String] = []
    for record in environment.notebook.records.values where record.deletedSince == nil {
      guard let path = record.path, !path.hasPrefix(prefix), !path.utf8.contains(0x0A) else { continue }
      lines.append("\(record.id) \(path)\n")
    }
    return Array(lines.sorted().joined().utf8)
  }
}

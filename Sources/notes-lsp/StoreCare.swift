import ArgumentParser
import AutomergeRepo
import Foundation
import NotesServer
import SQLiteStorage

/// `notes-lsp fsck`: reads every byte of the store and reports what is wrong.
struct Fsck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check every byte of the store.",
    discussion: "Changes nothing without --repair. Exit code 1 if something is wrong.")

  @OptionGroup var store: StoreOptions
  @Flag(help: "Rebuild a damaged file from what can be read, and set damaged entries aside.") var repair = false
  @Flag(help: "Print JSON.") var json = false

  struct Report: Codable {
    var ok: Bool
    var store: StoreReport
    var documents: [StoreReader.DocumentProblem] = []
    /// The folders with files that were set aside because they were damaged, the earliest first.
    var aside: [String] = []
  }

  func run() async throws {
    let home = store.homeDirectory
    try SQLiteStore.requireStore(in: home)
    let earlier = Self.asideFolders(in: home)
    var report = try await examine(home)
    report.aside = Self.asideFolders(in: home)
    // The check sees only the new file.
    if report.aside != earlier { report.ok = false }
    if json {
      try Output.print(json: report)
    } else {
      for line in report.lines { Output.print(fields: line) }
    }
    guard !report.ok else { return }
    if repair, !report.store.isSound || report.aside != earlier {
      throw Failure(message: "The store in \(home) was damaged; notes-lsp fsck checks what is there now.")
    }
    let advice = report.store.isSound ? "" : "; notes-lsp fsck --repair rebuilds it from what can be read"
    throw Failure(message: "The store in \(home) is damaged\(advice).")
  }

  private func examine(_ home: String) async throws(Failure) -> Report {
    var file = StoreReport()
    do throws(StorageError) {
      let directory = URL(fileURLWithPath: home, isDirectory: true)
      let storage = try await SQLiteStore.open(directory: directory, rebuilding: repair)
      file = try await storage.check(repairing: repair)
      let documents = try await StoreReader(storage: storage).documentProblems()
      return Report(ok: file.isSound && documents.isEmpty, store: file, documents: documents)
    } catch {
      guard let damage = error.fileDamage else { throw Failure(storeIn: home, error) }
      // The check may have found it before the documents could not be read.
      return Report(ok: false, store: file.isSound ? StoreReport(fileProblems: [damage]) : file)
    }
  }

  private static func asideFolders(in home: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
    return names.filter { $0.hasPrefix("damaged-") }.sorted().map { home + "/" + $0 }
  }
}

extension Fsck.Report {
  fileprivate var lines: [String] {
    // Of a file that cannot be opened, nothing was counted.
    let isCounted = store.itemCount > 0 || store.fileProblems.isEmpty
    let entries = "\(store.itemCount) \(store.itemCount == 1 ? "entry" : "entries")"
    var lines = isCounted ? ["\(entries), \(store.asideCount) put aside earlier"] : []
    lines += store.fileProblems.map { "the file: \($0)" }
    lines += store.damagedKeys.map { "damaged: \($0)" }
    for document in documents {
      let name = "\(document.id) \(document.title.map { "\"\($0)\"" } ?? "")"
      if let reason = document.unreadable { lines.append("\(name): \(reason)") }
      if document.damagedChunkCount > 0 {
        lines.append("\(name): \(counted(document.damagedChunkCount, "damaged chunk"))")
      }
      if document.lacksChanges { lines.append("\(name): changes are missing; peers may have them") }
    }
    lines += aside.map { "a damaged store was set aside: \($0)" }
    if ok { lines.append(aside.isEmpty ? "all is well" : "the store that is in use is sound") }
    return lines
  }
}

/// `notes-lsp backup FILE`: writes a copy of the store as it is at one moment.
struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a snapshot of the store to a file.",
    discussion: "To restore it, replace notes.db with the file while no editor is running.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The file to write.", completion: .file()) var file: String
  @Flag(help: "Replace the file if it exists.") var force = false
  @Flag(help: "Print JSON.") var json = false

  func run() async throws {
    let storage = try await SQLiteStore.ofCommand(home: store.homeDirectory)
    let path = file.hasPrefix("/") ? file : FileManager.default.currentDirectoryPath + "/" + file
    try OwnFiles.refuse(path, in: store.homeDirectory)
    do {
      guard try await storage.check().isSound else {
        throw Failure(
          message: "The store in \(store.homeDirectory) is damaged, so no backup was made; notes-lsp fsck says more.")
      }
      try await storage.backup(to: path, replacing: force)
    } catch let error as StorageError {
      if case .failed(_, EEXIST) = error {
        throw Failure(message: "\(path) exists already; --force replaces it.")
      }
      if error.fileDamage != nil { throw Failure(storeIn: store.homeDirectory, error) }
      throw Failure(message: "The backup to \(path) was not made: \(error).")
    }
    if json {
      try Output.print(json: ["path": path])
    } else {
      Output.print(fields: path)
    }
  }
}

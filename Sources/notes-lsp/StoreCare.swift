import ArgumentParser
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
    var documents: [StoreReader.DocumentProblem]
  }

  func run() async throws {
    let storage = try await SQLiteStore.ofCommand(home: store.homeDirectory)
    let file = try await storage.check(repairing: repair)
    let documents = try await StoreReader(storage: storage).documentProblems()
    let report = Report(ok: file.isSound && documents.isEmpty, store: file, documents: documents)
    if json {
      try Output.print(json: report)
    } else {
      for line in report.lines { Output.print(fields: line) }
    }
    guard report.ok else { throw Failure(message: "The store in \(store.homeDirectory) is damaged.") }
  }
}

extension Fsck.Report {
  fileprivate var lines: [String] {
    var lines = [
      "\(store.itemCount) \(store.itemCount == 1 ? "entry" : "entries"), \(store.asideCount) put aside earlier"
    ]
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
    if ok { lines.append("all is well") }
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
    do {
      try await storage.backup(to: path, replacing: force)
    } catch {
      if case .failed(_, EEXIST) = error {
        throw Failure(message: "\(path) exists already; --force replaces it.")
      }
      throw Failure(message: "The backup to \(path) was not made: \(error).")
    }
    if json {
      try Output.print(json: ["path": path])
    } else {
      Output.print(fields: path)
    }
  }
}

import ArgumentParser
import Automerge
import Foundation

/// `notes-lsp validate FILE…`: whether files can be loaded whole, and what in them cannot.
struct Validate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check Automerge files.", discussion: "Exits with 1 if anything in any of them cannot be used.")

  @Argument(help: "The files.") var files: [String]
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard !files.isEmpty else { throw ValidationError("Name a file.") }
  }

  func run() throws {
    let verdicts = try files.map(FileVerdict.init)
    if json {
      print(DumpedJSON.array(verdicts.map(\.json)).text(indented: true))
    } else {
      for verdict in verdicts { print(verdict.line) }
    }
    let bad = verdicts.filter { !$0.isGood }
    guard bad.isEmpty else {
      let names = bad.map(\.file).joined(separator: ", ")
      throw Failure(message: bad.count == 1 ? "\(names) is damaged." : "\(bad.count) files are damaged: \(names)")
    }
  }
}

private struct FileVerdict {
  let file: String
  private let chunks: [ChunkReport]
  private let heads: [String]
  private let changeCount: Int
  /// Why nothing of the file can be used, or why a part of it is of no use, though its chunks are sound.
  private let error: String?

  init(_ file: String) throws {
    self.file = file
    let bytes = try DocumentFile.read(file)
    chunks = ChunkReport.of(bytes)
    do {
      let document = try Document(bytes)
      let loaded = document.getHistory().count
      (heads, changeCount) = (document.headNames, loaded)
      let claimed = chunks.reduce(0) { $0 + $1.changeCount }
      // Changes that stand there twice are no fault; none at all though there are some is one.
      error = loaded == 0 && claimed > 0 ? "none of the changes can be applied: what they depend on is not here" : nil
    } catch let error as LoadError {
      (heads, changeCount, self.error) = ([], 0, "\(error)")
    }
  }

  var isGood: Bool { error == nil && chunks.allSatisfy { $0.error == nil } }

  var line: String {
    guard !isGood else { return "\(file): good, \(changeCount) changes" }
    let faults = chunks.compactMap { chunk in
      chunk.error.map { "at byte \(chunk.offset), \(chunk.byteCount) bytes (\(chunk.kind)): \($0)" }
    }
    let rest = error.map { faults.isEmpty ? [$0] : [] } ?? ["\(changeCount) changes can be used"]
    return "\(file): damaged; " + (faults + rest).joined(separator: "; ")
  }

  var json: DumpedJSON {
    .object([
      ("file", .string(file)), ("ok", .bool(isGood)), ("heads", .array(heads.map { .string($0) })),
      ("changes", .number(changeCount)), ("error", error.map { .string($0) } ?? .null),
      (
        "chunks",
        .array(
          chunks.map { chunk in
            .object([
              ("kind", .string(chunk.kind.rawValue)), ("offset", .number(chunk.offset)),
              ("bytes", .number(chunk.byteCount)), ("changes", .number(chunk.changeCount)),
              ("error", chunk.error.map { .string("\($0)") } ?? .null),
            ])
          })
      ),
    ])
  }
}

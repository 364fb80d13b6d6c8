import ArgumentParser
import Foundation
import NotesServer

/// The directories of store and notes, and the person's name.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The folder of the store (NOTES_HOME; else ~/.local/share/notes-lsp).", valueName: "dir"),
    completion: .directory)
  var home: String?

  @Option(
    help: ArgumentHelp("The folder of the notes as text files (NOTES_DIR; else ~/Notes).", valueName: "dir"),
    completion: .directory)
  var notes: String?

  @Option(help: ArgumentHelp("Your name, as others see it (NOTES_NAME).", valueName: "name"))
  var name: String?

  /// `--home`, `NOTES_HOME`, `$XDG_DATA_HOME/notes-lsp` or `~/.local/share/notes-lsp`.
  var homeDirectory: String {
    if let home = home ?? setting("NOTES_HOME") { return absolute(home) }
    let data = setting("XDG_DATA_HOME") ?? userHome + "/.local/share"
    return absolute(data) + "/notes-lsp"
  }

  /// `--notes`, `NOTES_DIR` or `~/Notes`.
  var notesDirectory: String { absolute(notes ?? setting("NOTES_DIR") ?? userHome + "/Notes") }

  /// The same with the place to which symbolic links in the path lead. The folder need not exist yet.
  var notesFolder: NotesFolder {
    var (folder, rest) = (notesDirectory, "")
    while folder.count > 1 {
      if let real = realpath(folder, nil) {
        defer { free(real) }
        return NotesFolder(notesDirectory, realPath: String(cString: real) + rest)
      }
      rest = "/" + (folder as NSString).lastPathComponent + rest
      folder = (folder as NSString).deletingLastPathComponent
    }
    return NotesFolder(notesDirectory)
  }

  /// `--name` or `NOTES_NAME`; nil if neither is given.
  var givenName: String? { name.flatMap { $0.isEmpty ? nil : $0 } ?? setting("NOTES_NAME") }

  /// The name of a person who never set one.
  var loginName: String { setting("USER") ?? setting("LOGNAME") ?? NSUserName() }

  private var userHome: String { setting("HOME") ?? NSHomeDirectory() }

  private func setting(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
  }

  private func absolute(_ path: String) -> String {
    if path == "~" || path.hasPrefix("~/") { return userHome + path.dropFirst() }
    if path.hasPrefix("/") { return path }
    return FileManager.default.currentDirectoryPath + "/" + path
  }
}

/// How to talk to peers.
struct NetworkOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The address to listen at; * is all addresses, port 0 the last used or a free one.", valueName: "host:port"))
  var listen = "*:0"

  @Flag(help: "Do not look for people nearby or announce this person to them.")
  var noDiscovery = false

  @Flag(help: "Do not listen for connections or make any.")
  var noNetwork = false
}

/// Logging: what, and where.
struct LogOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Log to this file instead of standard error.", valueName: "file"), completion: .file())
  var log: String?

  @Option(
    help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"),
    completion: Completions.levels)
  var logLevel = "notice"

  @Option(
    help: ArgumentHelp("Append all messages between editor and service to this file.", valueName: "file"),
    completion: .file())
  var record: String?
}

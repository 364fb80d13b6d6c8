import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Who chose to be seen on the network is found there as soon as an editor runs, although nothing is open in it.
@Suite(
  .ownThreads, .serialized, .enabled(if: Requirements.binary, Requirements.binaryComment),
  .enabled(if: NotesBinary.find("tmux") != nil, "SKIPPED: needs tmux"),
  .enabled(
    if: NetworkNamespaces.problem == nil,
    "SKIPPED: network namespaces are not allowed here: \(NetworkNamespaces.problem ?? "")"))
struct SeenTests {
  /// The command that starts an editor of a person with our plugin and nothing open; nil if the editor is not installed.
  private func command(_ editor: String, of user: NotesUser) throws -> [String]? {
    guard NotesBinary.find(editor) != nil, let binary = NotesBinary.path else { return nil }
    let service = [binary, "--home", user.home, "--notes", user.notes, "--log", user.logPath]
    let plugins = NotesBinary.packageRoot + "/editor-plugins"
    let settings = user.directory.file("settings")
    if editor == "emacs" {
      let words = service.map { "\"\($0)\"" }.joined(separator: " ")
      try """
      (add-to-list 'load-path "\(plugins)/emacs")
      (require 'notes-lsp)
      (setq notes-lsp-command '(\(words)))

      """.write(toFile: settings, atomically: true, encoding: .utf8)
      return ["emacs", "-nw", "-Q", "-l", settings]
    }
    try """
    set nocompatible noswapfile
    set runtimepath^=\(plugins)/\(editor == "vim" ? "vim" : "neovim")
    let g:notes_lsp_command = \(JSONValue.array(service.map { .string($0) }))

    """.write(toFile: settings, atomically: true, encoding: .utf8)
    return [editor, "-i", "NONE"] + (editor == "vim" ? ["-N"] : []) + ["-u", settings]
  }

  @Test(arguments: ["vim", "nvim", "emacs"])
  func whoChoseToBeSeenIsSeenWithNothingOpen(_ editor: String) throws {
    let network = try NetworkNamespaces(count: 2)
    let ben = try NotesUser("Ben").startInTheOpen(prefix: network.prefix(1))
    // The hidden person's editor is started first, and so had more time.
    var terminals: [Terminal] = []
    for (name, isVisible) in [("Hal", false), ("Ana", true)] {
      let user = try NotesUser(name)
      let before = try user.startInitialized()
      _ = try before.request("notes/setName", ["name": .string(name), "visible": .bool(isVisible)])
      try before.shutdown()
      guard let command = try command(editor, of: user) else { return }
      terminals.append(
        try Terminal(
          in: user.directory, name: "editor", command: network.prefix(0) + command,
          environment: ["HOME": user.directory.path, "NOTES_DIR": user.notes, "NOTES_HOME": user.home]))
    }
    var names: Set<String> = []
    try NotesProcess.wait(for: "Ana to be seen", of: [ben]) {
      names = Set(try ben.request("notes/peers")["peers"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? [])
      return names.contains("Ana")
    }
    #expect(!names.contains("Hal"))
    withExtendedLifetime(terminals) {}
    try ben.shutdown()
  }
}

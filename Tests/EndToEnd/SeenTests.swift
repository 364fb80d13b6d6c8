import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A person who chose to be visible on the network appears there as soon as an editor runs, even without an open note.
@Suite(
  .ownThreads, .serialized, .enabled(if: Requirements.binary, Requirements.binaryComment),
  .enabled(if: NotesBinary.find("tmux") != nil, "SKIPPED: needs tmux"),
  .enabled(
    if: NetworkNamespaces.problem == nil,
    "SKIPPED: network namespaces are not allowed here: \(NetworkNamespaces.problem ?? "")"))
struct SeenTests {}

extension SeenTests {
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

  @Test func aPersonWhoChoseToBeVisibleIsSeenWithNothingOpen() throws {
    let network = try NetworkNamespaces(count: 2)
    let ben = try NotesUser("Ben").startInTheOpen(prefix: network.prefix(1))
    // The hidden people's editors start first, so they have more time to appear by mistake.
    var terminals: [Terminal] = []
    var expected: Set<String> = []
    for (isVisible, editor) in [false, true].flatMap({ choice in ["vim", "nvim", "emacs"].map { (choice, $0) } }) {
      let user = try NotesUser(isVisible ? "Seen in \(editor)" : "Hidden in \(editor)")
      guard let command = try command(editor, of: user) else { continue }
      let before = try user.startInitialized()
      _ = try before.request("notes/setName", ["name": .string(user.name), "visible": .bool(isVisible)])
      try before.shutdown()
      terminals.append(
        try Terminal(
          in: user.directory, name: "editor", command: network.prefix(0) + command,
          environment: ["HOME": user.directory.path, "NOTES_DIR": user.notes, "NOTES_HOME": user.home]))
      if isVisible { expected.insert(user.name) }
    }
    var names: Set<String> = []
    try NotesProcess.wait(for: "those who chose it to be seen", of: [ben]) {
      names = Set(try ben.request("notes/peers")["peers"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? [])
      return names.isSuperset(of: expected)
    }
    #expect(!expected.isEmpty && names == expected)
    withExtendedLifetime(terminals) {}
    try ben.shutdown()
  }
}

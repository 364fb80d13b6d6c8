import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Editors with a language client and without a plugin of ours: Emacs with Eglot, and Neovim with its own client.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct LanguageClientTests {
  enum Client: String, CaseIterable, Sendable {
    case eglot, neovim

    /// Where Debian installs Eglot for an Emacs that does not include it.
    static let eglotFolder: String? = {
      let elpa = "/usr/share/emacs/site-lisp/elpa"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: elpa)) ?? []
      return names.first { $0.hasPrefix("eglot-") }.map { elpa + "/" + $0 }
    }()

    /// Whether the editor is installed.
    var isHere: Bool {
      switch self {
      case .eglot: NotesBinary.find("emacs") != nil && Self.eglotFolder != nil
      case .neovim: NeovimUnderTest.isHere
      }
    }
  }

  private static let clients = Client.allCases.filter(\.isHere)

  /// Ana, who has the plugin, and Ben, who opens the note's file in an editor without one.
  private struct Pair {
    let ana: OpenNote
    let ben: NotesUser
    let terminal: Terminal

    init(_ client: Client, text: String) throws {
      ana = try OpenNote("Ana", text: text)
      ben = try NotesUser("Ben")
      // Ben has joined before, on the command line.
      let service = try ben.startInitialized()
      let joined = try service.request("notes/join", ["ticket": .string(ana.ticket())])
      let file = try #require(joined["path"]?.stringValue)
      _ = try service.shutdown()
      terminal = try Self.open(file, client, ben)
    }

    private static func open(_ file: String, _ client: Client, _ ben: NotesUser) throws -> Terminal {
      let command = try ben.command(["--log", ben.logPath])
      let settings: String
      switch client {
      case .eglot:
        let quoted = command.map { "\"\($0)\"" }.joined(separator: " ")
        settings = """
          (setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil)
          (setq native-comp-deferred-compilation nil ring-bell-function #'ignore confirm-kill-processes nil)
          (menu-bar-mode -1)
          (add-to-list 'load-path "\(Client.eglotFolder ?? "")")
          (require 'eglot)
          (setq eglot-confirm-server-initiated-edits nil eglot-autoreconnect nil)
          (add-to-list 'eglot-server-programs
                       '(text-mode . (\(quoted) :initializationOptions (:applyEdits t))))
          (find-file "\(file)")
          (text-mode)
          (eglot-ensure)
          """
      case .neovim:
        settings = """
          vim.opt.shadafile, vim.opt.swapfile = "NONE", false
          vim.api.nvim_create_autocmd("FileType", { pattern = "markdown", callback = function()
            local client = vim.lsp.start_client({
              name = "notes-lsp", cmd = vim.json.decode([==[\(JSONValue(command))]==]),
              init_options = { applyEdits = true }, root_dir = "/" })
            vim.lsp.buf_attach_client(0, client)
          end })
          """
      }
      let path = ben.directory.file(client == .eglot ? "init.el" : "init.lua")
      try settings.write(toFile: path, atomically: true, encoding: .utf8)
      let start =
        client == .eglot
        ? ["emacs", "-nw", "-Q", "-l", path] : ["nvim", "-u", path, "-c", "setfiletype markdown", file]
      return try Terminal(
        in: ben.directory, name: client.rawValue, command: start, environment: ["HOME": ben.directory.path])
    }

    func wait(for what: String, _ condition: () throws -> Bool) throws {
      try NotesProcess.wait(for: what, of: [ana.process], condition)
    }

    func sees(_ text: String) throws {
      do {
        try wait(for: text) { try terminal.screen().contains(text) }
      } catch {
        throw ProcessError.timedOut(waitingFor: text, details: "\((try? terminal.screen()) ?? "")\n\(ben.log)")
      }
    }
  }

  @Test(arguments: clients) func bothTypeInOneNote(_ client: Client) throws {
    let pair = try Pair(client, text: "# Shopping\n\ntea\n")
    try pair.sees("tea")
    try pair.wait(for: "Ben's service") {
      try pair.ana.process.request("notes/status", ["uri": .string(pair.ana.client.uri)])["peers"]?[0]?["state"]
        == "inSync"
    }
    switch client {
    case .eglot:
      try pair.terminal.press("M->")
      try pair.terminal.type("milk")
    case .neovim:
      try pair.terminal.type("Gomilk")
      try pair.terminal.press("Escape")
    }
    try pair.wait(for: "Ben's word") { pair.ana.client.text.string.contains("milk") }
    pair.ana.client.edit(0..<0, with: "Both of us\n")
    pair.ana.client.flush()
    try pair.sees("Both of us")
  }
}

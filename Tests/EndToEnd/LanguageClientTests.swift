import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Editors with a language client and without a plugin of ours: Emacs with Eglot, and Neovim with its own client.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct LanguageClientTests {}

extension LanguageClientTests {
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

    /// - Parameters:
    ///   - lacksNote: whether Ben's store has lost the document, and Ana is silent until she is woken
    ///   - proxy: a command that runs his service
    init(_ client: Client, text: String, lacksNote: Bool = false, proxy: [String] = []) throws {
      ana = try OpenNote("Ana", text: text)
      ben = try NotesUser("Ben")
      // Ben has joined before, on the command line.
      let service = try ben.startInitialized()
      let joined = try service.request("notes/join", ["ticket": .string(ana.ticket())])
      let file = try #require(joined["path"]?.stringValue)
      _ = try service.shutdown()
      if lacksNote {
        kill(ana.process.child.processId, SIGSTOP)
        try ben.forgetDocument(ana.id)
      }
      terminal = try Self.open(file, client, ben, proxy)
    }

    private static func open(
      _ file: String, _ client: Client, _ ben: NotesUser, _ proxy: [String]
    ) throws -> Terminal {
      let command = try proxy + ben.command(["--log", ben.logPath])
      let settings: String
      switch client {
      case .eglot:
        let quoted = command.map { "\"\($0)\"" }.joined(separator: " ")
        settings = """
          (setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil)
          (setq native-comp-deferred-compilation nil ring-bell-function #'ignore confirm-kill-processes nil)
          (menu-bar-mode -1)
          (add-to-list 'auto-mode-alist '("\\\\.md\\\\'" . text-mode))
          (add-to-list 'load-path "\(Client.eglotFolder ?? "")")
          (require 'eglot)
          (setq eglot-confirm-server-initiated-edits nil eglot-autoreconnect nil)
          (add-to-list 'eglot-server-programs
                       '(text-mode . (\(quoted) :initializationOptions (:applyEdits t))))
          (find-file "\(file)")
          (eglot-ensure)
          """
      case .neovim:
        settings = """
          vim.opt.shadafile, vim.opt.swapfile = "NONE", false
          \(Self.progressOfNeovim)
          local client
          vim.api.nvim_create_autocmd("FileType", { pattern = "markdown", callback = function()
            if not (client and vim.lsp.get_client_by_id(client)) then
              client = vim.lsp.start_client({
                name = "notes-lsp", cmd = vim.json.decode([==[\(JSONValue(command))]==]),
                init_options = { applyEdits = true }, root_dir = "/" })
            end
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

    /// The settings of OtherEditors.md for progress in the status line.
    private static let progressOfNeovim = """
      function NotesProgress()
        if vim.lsp.status then return vim.lsp.status() end
        local words = {}
        for _, work in ipairs(vim.lsp.util.get_progress_messages()) do
          if not work.done then table.insert(words, table.concat({ work.title, work.message or "" }, " ")) end
        end
        return table.concat(words, ", ")
      end
      vim.opt.laststatus, vim.opt.statusline = 2, "%f %{v:lua.NotesProgress()}"
      vim.cmd("autocmd User LspProgressUpdate redrawstatus")
      if vim.lsp.status then
        vim.cmd("autocmd LspProgress begin,report redrawstatus")
        -- Each call returns only what is new: this one takes the end, so the status line does not show it.
        vim.cmd("autocmd LspProgress end call v:lua.vim.lsp.status() | redrawstatus")
      end
      """

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

    /// Types below the text, as soon as the two services are in sync.
    func typeLastLine(_ word: String, in client: Client) throws {
      try wait(for: "Ben's service") {
        try ana.process.request("notes/status", ["uri": .string(ana.client.uri)])["peers"]?[0]?["state"] == "inSync"
      }
      switch client {
      case .eglot:
        try terminal.press("M->")
        try terminal.type(word)
      case .neovim:
        try terminal.type("Go" + word)
        try terminal.press("Escape")
      }
    }
  }

  @Test(arguments: clients) func bothTypeInOneNote(_ client: Client) throws {
    let pair = try Pair(client, text: "# Shopping\n\ntea\n")
    try pair.sees("tea")
    try pair.typeLastLine("milk", in: client)
    try pair.wait(for: "Ben's word") { pair.ana.client.text.string.contains("milk") }
    pair.ana.client.edit(0..<0, with: "Both of us\n")
    pair.ana.client.flush()
    try pair.sees("Both of us")
  }

  @Test(.enabled(if: clients.contains(.neovim))) func neovimShowsThatANoteIsStillBeingOpened() throws {
    let pair = try Pair(.neovim, text: "# Shopping\n\ntea\n", lacksNote: true)
    defer { kill(pair.ana.process.child.processId, SIGCONT) }
    try pair.sees("Opening \"Shopping\" waiting for Ana")
    kill(pair.ana.process.child.processId, SIGCONT)
    try pair.wait(for: "the end") { try !pair.terminal.screen().contains("Opening \"") }
    pair.ana.client.edit(0..<0, with: "Both of us\n")
    pair.ana.client.flush()
    try pair.sees("Both of us")
  }

  /// A proxy doubles a change, so that the service no longer knows the buffer's text.
  @Test(arguments: clients) func aBufferThatIsOutOfStepHasEveryWordOnceItIsSavedAndReopened(_ client: Client) throws {
    let proxy = ["python3", NotesBinary.packageRoot + "/Tests/EndToEnd/doubling_proxy.py"]
    let pair = try Pair(client, text: "# Shopping\n\ntea\n", proxy: proxy)
    try pair.sees("tea")
    try pair.typeLastLine("flour", in: client)
    // Eglot soon shows in its place who wrote the line.
    if client == .eglot { try pair.terminal.press("C-h", "e") }
    try pair.sees("Out of step")
    if client == .eglot { try pair.terminal.press("C-x", "1") }
    pair.ana.client.edit(0..<0, with: "By Ana meanwhile\n")
    pair.ana.client.flush()
    switch client {
    case .eglot:
      try pair.terminal.type(" and rye")
      try pair.terminal.press("C-x", "C-s", "C-x", "C-v", "Enter")
    case .neovim:
      try pair.terminal.press("Escape")
      try pair.terminal.type("A and rye")
      try pair.terminal.press("Escape")
      try pair.terminal.type(":w | edit")
      try pair.terminal.press("Enter")
    }
    try pair.sees("By Ana meanwhile")
    let text = "By Ana meanwhile\n# Shopping\n\ntea\nflour and rye"
    try pair.wait(for: "Ben's words") { pair.ana.client.text.string.hasPrefix(text) }
    // From here on both hear each other again.
    pair.ana.client.edit(0..<0, with: "And again\n")
    pair.ana.client.flush()
    try pair.sees("And again")
  }
}

import Foundation
import NotesHarness
import TestSupport
import Testing

/// `make install` and `make uninstall`, with a program that is already built and a home folder of the test's own.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct InstallTests {}

extension InstallTests {
  private static let checkout = NotesBinary.packageRoot

  /// A home folder with a prefix in it, and with store and notes in their default places.
  private struct Home {
    let directory: TemporaryDirectory
    var path: String { directory.path }
    var prefix: String { path + "/.local" }
    var store: String { path + "/.local/share/notes-lsp" }

    init() throws { directory = try TemporaryDirectory() }

    func run(_ command: [String]) throws -> (exit: ChildProcess.Exit, output: String, errors: String) {
      let result = try ChildProcess.run(
        command,
        environment: ["HOME": path, "NOTES_HOME": "", "NOTES_DIR": "", "XDG_DATA_HOME": "", "MAKEFLAGS": ""])
      return (
        result.exit, String(decoding: result.output, as: UTF8.self), String(decoding: result.errorOutput, as: UTF8.self)
      )
    }

    @discardableResult
    func make(_ arguments: String...) throws -> String {
      let result = try run(["make", "-C", InstallTests.checkout, "PREFIX=" + prefix] + arguments)
      #expect(result.exit == .code(0), "\(result)")
      return result.output
    }

    func install() throws -> String {
      try make("install", "PROGRAM=" + (try #require(NotesBinary.path)))
    }

    /// Every file below a folder, with its content.
    func files(below folder: String) -> [String: Data] {
      var found: [String: Data] = [:]
      for name in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
        found[name] = FileManager.default.contents(atPath: folder + "/" + name)
      }
      return found
    }

    /// Whether a Vim with this folder in its 'runtimepath' loads the plugin and finds its help.
    func vimFindsHelp(in folder: String) throws -> Bool {
      let result = try run([
        "vim", "-es", "-Nu", "NONE", "-i", "NONE", "-n", "-c", "set runtimepath+=" + folder, "-c",
        "runtime plugin/notes_lsp.vim", "-c",
        "try | help notes-lsp | catch | cquit! | endtry | if exists(':NotesNew') != 2 | cquit! | endif", "-c", "qall!",
      ])
      return result.exit == .code(0)
    }

    func size(of path: String) throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
  }

  private static let hasTools = NotesBinary.find("make") != nil && NotesBinary.find("vim") != nil

  @Test(.enabled(if: hasTools, "SKIPPED: needs make and vim"))
  func installingAndRemovingTheProgramLeaveTheNotesAlone() throws {
    let home = try Home()
    let binary = try #require(NotesBinary.path)
    #expect(try home.run([binary, "new", "Shopping"]).exit == .code(0))
    try "milk\n".write(toFile: home.path + "/Notes/Shopping.md", atomically: true, encoding: .utf8)
    let before = home.files(below: home.store)
    #expect(before["notes.db"] != nil && before["identity.pem"] != nil, "the store is in its default place")

    let said = try home.install()
    #expect(said.contains(home.prefix + "/lib/notes-lsp/vim"))
    #expect(home.files(below: home.store) == before, "nothing of the program is among the notes")
    let installed = home.prefix + "/bin/notes-lsp"
    #expect(try home.run([installed, "--version"]).output == home.run([binary, "--version"]).output)
    #expect(try home.size(of: installed) < home.size(of: binary), "symbols stay behind")
    #expect(try home.vimFindsHelp(in: home.prefix + "/lib/notes-lsp/vim"))
    let shared = [
      "man/man1/notes-lsp.1", "man/man1/notes-lsp-serve.1", "man/man5/notes-lsp-store.5",
      "bash-completion/completions/notes-lsp", "zsh/site-functions/_notes-lsp",
      "fish/vendor_completions.d/notes-lsp.fish",
    ]
    for file in shared { #expect(try home.size(of: home.prefix + "/share/" + file) > 500, "\(file)") }
    if NotesBinary.find("emacs") != nil {
      let plugin = home.files(below: home.prefix + "/lib/notes-lsp/emacs").keys
      #expect(plugin.allSatisfy { $0.hasSuffix(".elc") || plugin.contains($0 + "c") }, "compiled: \(plugin.sorted())")
    }
    // Installs again, as an upgrade does.
    _ = try home.install()
    try home.make("uninstall")
    #expect(home.files(below: home.store) == before)
    #expect(home.files(below: home.path + "/Notes") == ["Shopping.md": Data("milk\n".utf8)])
    #expect(!home.exists(home.prefix + "/lib/notes-lsp") && !home.exists(home.prefix + "/bin/notes-lsp"))
    for file in shared { #expect(!home.exists(home.prefix + "/share/" + file), "\(file)") }
  }

  @Test(.enabled(if: NotesBinary.find("python3") != nil, "SKIPPED: needs python3"))
  func theManualPagesHaveTheCommandsOfTheProgram() throws {
    let checkout = InstallTests.checkout
    for page in ["notes-lsp.1", "notes-lsp-serve.1"] {
      let checked = try Home().run([
        "python3", checkout + "/Tests/manual.py", try #require(NotesBinary.path),
        checkout + "/Sources/Documentation/man/" + page, "--check",
      ])
      #expect(checked.exit == .code(0), "\(page): \(checked.errors)")
    }
  }

  @Test func theVersionNamesTheCommit() throws {
    let said = try Home().run([try #require(NotesBinary.path), "--version"]).output
    let commit =
      /notes-lsp [0-9.]+ \(commit ([0-9a-f]{12}( and uncommitted changes)?|unknown: not built in a git clone)\)\n/
    #expect(try commit.wholeMatch(in: said) != nil, "\(said)")
  }

  @Test(.enabled(if: NotesBinary.find("git") != nil, "SKIPPED: needs git"))
  func theCommitIsAskedForBeforeEachBuildAndWrittenWhenItIsAnother() throws {
    let home = try Home()
    let (folder, file) = (home.path + "/generated", home.path + "/generated/BuildCommit.swift")
    func written() throws -> String {
      let script = InstallTests.checkout + "/Sources/CommitPlugin/commit.sh"
      let result = try home.run(["sh", script, home.path, folder])
      #expect(result.exit == .code(0), "\(result)")
      return try String(contentsOfFile: file, encoding: .utf8)
    }
    func git(_ arguments: String...) throws {
      let settings = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
      let result = try home.run(["git", "-C", home.path] + settings + arguments)
      #expect(result.exit == .code(0), "\(result)")
    }
    #expect(try written().contains("hash: String? = nil"), "no clone")
    try git("init", "-q")
    #expect(try written().contains("hash: String? = nil"), "no commit yet")
    try "one\n".write(toFile: home.path + "/file", atomically: true, encoding: .utf8)
    try git("add", "file")
    try git("commit", "-qm", "one")
    let first = try written()
    #expect(first.contains(/hash: String\? = "[0-9a-f]{12}"/) && first.contains("isModified = false"), "\(first)")
    // An unchanged file is not written again, or everything that depends on it would be compiled again.
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file)
    #expect(try written() == first)
    let date = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
    #expect(date == Date(timeIntervalSince1970: 1))
    try "two\n".write(toFile: home.path + "/file", atomically: true, encoding: .utf8)
    #expect(try written().contains("isModified = true"))
    try git("commit", "-qam", "two")
    let second = try written()
    #expect(second != first && second.contains("isModified = false"))
  }

  /// Puts the plugins where version 0.1 had them: among the notes.
  private func installAsBefore(in home: Home) throws {
    for folder in ["vim", "emacs"] {
      try FileManager.default.createDirectory(atPath: home.store + "/" + folder, withIntermediateDirectories: true)
    }
    for folder in ["plugin", "autoload", "doc"] {
      try FileManager.default.copyItem(
        atPath: InstallTests.checkout + "/editor-plugins/vim/" + folder, toPath: home.store + "/vim/" + folder)
    }
    try "(provide 'notes-lsp)\n".write(
      toFile: home.store + "/emacs/notes-lsp.el", atomically: true, encoding: .utf8)
  }

  @Test(.enabled(if: hasTools, "SKIPPED: needs make and vim"))
  func theSettingsOfAnOlderInstallGoOnWorking() throws {
    let home = try Home()
    try installAsBefore(in: home)
    try "history\n".write(toFile: home.store + "/notes.db", atomically: true, encoding: .utf8)
    #expect(try home.install().contains("need no change"))
    #expect(try home.vimFindsHelp(in: home.store + "/vim"))
    #expect(try home.vimFindsHelp(in: home.prefix + "/lib/notes-lsp/vim"))
    let lisp = try String(contentsOfFile: home.store + "/emacs/notes-lsp.el", encoding: .utf8)
    #expect(lisp.count > 100, "it is today's plugin")
    try home.make("uninstall")
    #expect(home.files(below: home.store) == ["notes.db": Data("history\n".utf8)])
  }

  @Test(.enabled(if: hasTools, "SKIPPED: needs make and vim"))
  func anOlderInstallIsRemovedFileByFile() throws {
    let home = try Home()
    try installAsBefore(in: home)
    for name in ["notes.db", "vim/doc/mine.txt"] {
      try "mine\n".write(toFile: home.store + "/" + name, atomically: true, encoding: .utf8)
    }
    // A folder that contains other files stays, and the command says so.
    let upgrade = try home.run([
      "make", "-C", InstallTests.checkout, "PREFIX=" + home.prefix, "install",
      "PROGRAM=" + (try #require(NotesBinary.path)),
    ])
    #expect(upgrade.errors.contains(home.store + "/vim holds files of yours"), "\(upgrade)")
    try home.make("uninstall")
    let left = home.files(below: home.store).filter { $0.key.contains(".") }
    #expect(Set(left.keys) == ["notes.db", "vim/doc/mine.txt"])
  }
}

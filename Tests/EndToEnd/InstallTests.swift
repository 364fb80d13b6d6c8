import Foundation
import NotesHarness
import TestSupport
import Testing

/// `make install` and `make uninstall`, with a program that is built already and a home folder that is not ours.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct InstallTests {
  private static let checkout = NotesBinary.packageRoot

  /// A home folder with a prefix in it, where store and notes are in their default places.
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

    /// Every file below a folder with what is in it.
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
    #expect(try home.vimFindsHelp(in: home.prefix + "/lib/notes-lsp/vim"))
    // Once more, as an upgrade does.
    _ = try home.install()
    try home.make("uninstall")
    #expect(home.files(below: home.store) == before)
    #expect(home.files(below: home.path + "/Notes") == ["Shopping.md": Data("milk\n".utf8)])
    #expect(!home.exists(home.prefix + "/lib/notes-lsp") && !home.exists(home.prefix + "/bin/notes-lsp"))
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
    // A folder with other files in it stays, and the person is told.
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

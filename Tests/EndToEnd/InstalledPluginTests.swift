import Foundation
import NotesHarness
import TestSupport
import Testing

/// The plugins and the manual where `make install` or a tarball has put them.
struct InstalledPluginTests {
  /// Installs a program that does nothing, and returns the folder.
  private func install(in folder: TemporaryDirectory) throws -> String {
    let (prefix, program) = (folder.file("un packed"), folder.file("program"))
    try "#!/bin/sh\n".write(toFile: program, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    let script = NotesBinary.packageRoot + "/Sources/Packaging/install.sh"
    let result = try ChildProcess.run([script, "install", prefix, program], environment: ["HOME": folder.path])
    #expect(result.exit == .code(0), "\(String(decoding: result.errorOutput, as: UTF8.self))")
    return prefix
  }

  private func output(_ command: [String], _ folder: TemporaryDirectory) throws -> String {
    let result = try ChildProcess.run(["env", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=\(folder.path)"] + command)
    return String(decoding: result.output, as: UTF8.self) + String(decoding: result.errorOutput, as: UTF8.self)
  }

  @Test(.enabled(if: NotesBinary.find("notes-lsp") == nil, "SKIPPED: a notes-lsp is installed"))
  func thePluginsFindTheProgramThatWasInstalledWithThem() throws {
    let folder = try TemporaryDirectory()
    let prefix = try install(in: folder)
    let plugins = prefix.replacingOccurrences(of: " ", with: "\\ ") + "/lib/notes-lsp"
    let told = folder.file("told")
    _ = try output(
      [
        "vim", "-es", "-Nu", "NONE", "-i", "NONE", "-c", "set runtimepath+=\(plugins)/vim",
        "-c", "call writefile(notes_lsp#service#Command(), '\(told)')", "-c", "qall!",
      ], folder)
    #expect(try String(contentsOfFile: told, encoding: .utf8) == "\(prefix)/bin/notes-lsp\n")
    if NotesBinary.find("nvim") != nil {
      _ = try output(
        [
          "nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", "set runtimepath+=\(plugins)/neovim",
          "-c", "lua vim.fn.writefile(require('notes_lsp.service').command(), '\(told)2')", "-c", "qall!",
        ], folder)
      #expect(try String(contentsOfFile: told + "2", encoding: .utf8) == "\(prefix)/bin/notes-lsp\n")
    }
    let emacs = try output(
      [
        "emacs", "-Q", "--batch", "-L", "\(prefix)/lib/notes-lsp/emacs", "-l", "notes-lsp",
        "--eval", "(princ (notes-lsp--program))",
      ], folder)
    #expect(emacs.hasSuffix("\(prefix)/bin/notes-lsp"), "\(emacs)")
  }

  @Test func theManualIsInfosAndGoesWithTheRest() throws {
    let folder = try TemporaryDirectory()
    let prefix = try install(in: folder)
    let shown = try output(
      [
        "emacs", "-Q", "--batch", "-L", "\(prefix)/lib/notes-lsp/emacs", "-l", "notes-lsp",
        "--eval", "(progn (info \"(notes-lsp)Commands\") (princ (buffer-string)))",
      ], folder)
    #expect(shown.contains("‘notes-share’"))
    let script = NotesBinary.packageRoot + "/Sources/Packaging/install.sh"
    #expect(try ChildProcess.run([script, "uninstall", prefix]).exit == .code(0))
    let left = FileManager.default.enumerator(atPath: prefix)?.compactMap { $0 as? String } ?? []
    #expect(left.filter { $0.contains("notes") || $0.contains("info/") }.isEmpty, "\(left)")
  }
}

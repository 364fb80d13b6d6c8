import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The findings of `notes-lsp doctor`, and its advice.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct DoctorTests {}

extension DoctorTests {
  private struct Finding {
    var isGood: Bool
    var text: String
    var advice: String?
  }

  /// Runs the doctor for a person.
  private func diagnose(
    _ user: NotesUser, binary: String? = nil, prefix: [String] = [], environment: [String: String] = [:]
  ) throws -> (exit: ChildProcess.Exit, findings: [String: Finding]) {
    let binary = try binary ?? #require(NotesBinary.path)
    let result = try ChildProcess.run(
      prefix + [binary, "doctor", "--json", "--home", user.home],
      environment: ["HOME": user.directory.path].merging(environment) { $1 })
    var findings: [String: Finding] = [:]
    for finding in try JSONValue(parsing: result.output).arrayValue ?? [] {
      findings[finding["subject"]?.stringValue ?? ""] = Finding(
        isGood: finding["isGood"]?.boolValue ?? false, text: finding["text"]?.stringValue ?? "",
        advice: finding["advice"]?.stringValue)
    }
    return (result.exit, findings)
  }

  @Test(
    .enabled(
      if: NetworkNamespaces.problem == nil,
      "SKIPPED: network namespaces are not allowed here: \(NetworkNamespaces.problem ?? "")"))
  func whereAllIsWellItSaysSoAndWhereThereIsNoNetworkWhatToDo() throws {
    let network = try NetworkNamespaces(count: 2)
    let user = try NotesUser("Ana")
    _ = try user.run(["new", "A note"])
    let ben = try NotesUser("Ben")
    let neighbour = try ben.startInTheOpen(prefix: network.prefix(1))
    let (exit, findings) = try diagnose(user, prefix: network.prefix(0))
    for subject in ["version", "store", "key", "service", "clock", "network", "port", "firewall", "nearby"] {
      #expect(findings[subject]?.isGood == true, "\(subject): \(findings)")
    }
    #expect(findings["network"]?.text.contains(network.address(0)) == true)
    #expect(findings["nearby"]?.text.contains("Ben") == true)
    #expect(findings["editors"] == nil || findings["editors"]?.isGood == false)
    #expect(exit == (findings.values.allSatisfy(\.isGood) ? .code(0) : .code(1)))
    try neighbour.shutdown()

    try network.setInterface(0, isUp: false)
    let (badExit, bad) = try diagnose(user, prefix: network.prefix(0))
    #expect(badExit == .code(1))
    #expect(bad["network"]?.isGood == false && bad["network"]?.advice?.isEmpty == false)
    #expect((bad["multicast"] ?? bad["nearby"]) != nil)
  }

  @Test func aKeyThatOthersCanReadAndAMissingEditorAreNamed() throws {
    let user = try NotesUser("Ana")
    try user.startInitialized().shutdown()
    #expect(chmod(user.home + "/identity.pem", 0o644) == 0)
    let (exit, findings) = try diagnose(user, environment: ["PATH": "/nowhere"])
    #expect(exit == .code(1))
    for subject in ["key", "editors"] {
      #expect(findings[subject]?.isGood == false && findings[subject]?.advice?.isEmpty == false, "\(findings)")
    }
  }

  @Test func foldersThatCannotBeMadeAreNamedBeforeTheFirstNoteFails() throws {
    let user = try NotesUser("Ana")
    let file = user.directory.file("in-the-way")
    try "not a folder\n".write(toFile: file, atomically: true, encoding: .utf8)
    let binary = try #require(NotesBinary.path)
    let result = try ChildProcess.run(
      [binary, "doctor", "--json", "--home", file + "/share/notes-lsp", "--notes", file],
      environment: ["HOME": user.directory.path])
    let findings = try #require(try JSONValue(parsing: result.output).arrayValue)
    for (subject, text) in [("store", "cannot be made: \(file) is a file"), ("notes", "\(file) is a file")] {
      let finding = try #require(findings.first { $0["subject"]?.stringValue == subject })
      #expect(finding["isGood"]?.boolValue == false, "\(finding)")
      #expect(finding["text"]?.stringValue?.contains(text) == true, "\(finding)")
      #expect(finding["advice"]?.stringValue?.contains(subject == "store" ? "NOTES_HOME" : "NOTES_DIR") == true)
    }
    #expect(result.exit == .code(1))
  }

  @Test(arguments: ["", "what\n"]) func anEditorIsToldOfAStoreThatWasSetAside(content: String) throws {
    let user = try NotesUser("Ana")
    _ = try user.run(["new", "A note"])
    for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: user.home + "/notes.db" + ending) }
    try Data(content.utf8).write(to: URL(fileURLWithPath: user.home + "/notes.db"))
    let process = try user.startInitialized()
    let event = try process.waitForNotification("notes/event") { $0["kind"] == "store" }
    let word = content.isEmpty ? "empty" : "damaged"
    #expect(event["message"]?.stringValue == "WARNING: notes.db was \(word); run notes-lsp doctor")
    try process.shutdown()
    // The next start reports nothing.
    #expect(try diagnose(user).findings["damaged"]?.text.contains(user.home) == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: user.home + "/notes.db")).isEmpty == false)
  }

  @Test func aStoreThatCannotBeOpenedIsNamedAndStaysAsItIs() throws {
    let user = try NotesUser("Ana")
    _ = try user.run(["new", "A note"])
    let file = user.home + "/notes.db"
    #expect(try diagnose(user).findings["database"]?.isGood == true)
    let sound = try Data(contentsOf: URL(fileURLWithPath: file))
    var newer = sound
    newer[63] = 99
    // A store has this header after its log was written into it.
    newer.replaceSubrange(68..<72, with: Array("note".utf8))
    let foreign = newer.prefix(68) + Data("mine".utf8) + newer.dropFirst(72)
    for (bytes, text) in [
      (newer, "is of version 99"), (foreign, "another program"), (Data("what\n".utf8), "is damaged"),
      (Data(), "is empty"),
    ] {
      try bytes.write(to: URL(fileURLWithPath: file))
      let (exit, findings) = try diagnose(user)
      #expect(exit == .code(1))
      #expect(findings["database"]?.isGood == false && findings["database"]?.advice?.isEmpty == false)
      #expect(findings["database"]?.text.contains(text) == true, "\(findings)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
    }
    // The doctor also names the file that a repair sets aside, as long as it is there.
    for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + ending) }
    #expect(try user.run(["list"]).exit == .code(1))
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty, "only a repair touches it")
    #expect(try user.run(["fsck", "--repair"]).exit == .code(1))
    let after = try diagnose(user).findings
    #expect(after["database"]?.isGood == true)
    #expect(after["damaged"]?.text.contains("damaged-") == true, "\(after)")
    #expect(after["damaged"]?.isGood == false)
  }

  @Test func itSeesThePackagesOfTheSystem() throws {
    let user = try NotesUser("Ana")
    let bin = try user.directory.directory("usr/bin")
    for editor in ["vim", "nvim", "emacs"] {
      try "#!/bin/sh\n".write(toFile: bin + "/" + editor, atomically: true, encoding: .utf8)
      #expect(chmod(bin + "/" + editor, 0o755) == 0)
    }
    for path in ["vim/vimfiles/pack/dist-bundle/start", "nvim/site/pack/dist-bundle/start", "emacs/site-lisp/elpa"] {
      _ = try user.directory.directory("usr/share/\(path)/notes-lsp-0.1")
    }
    // Copied by another process: children of other tests would inherit a file that this process has open for writing.
    let copied = try ChildProcess.run(["cp", try #require(NotesBinary.path), bin + "/notes-lsp"])
    #expect(copied.exit == .code(0))
    let findings = try diagnose(user, binary: bin + "/notes-lsp", environment: ["PATH": bin]).findings
    for editor in ["vim", "neovim", "emacs"] {
      #expect(findings[editor]?.text.contains("/usr/share/") == true, "\(findings)")
    }
    #expect(findings["vim"]?.advice == nil && findings["neovim"]?.advice == nil)
    #expect(findings["emacs"]?.advice == "Add to your init file: (require 'notes-lsp)")
  }

  @Test func itSeesWhetherAnEditorLoadsThePlugin() throws {
    let user = try NotesUser("Ana")
    let folder = try user.directory.directory("bin")
    for editor in ["vim", "nvim", "emacs"] {
      try "#!/bin/sh\n".write(toFile: folder + "/" + editor, atomically: true, encoding: .utf8)
      #expect(chmod(folder + "/" + editor, 0o755) == 0)
    }
    let before = try diagnose(user, environment: ["PATH": folder]).findings
    #expect(before["vim"]?.advice?.contains("runtimepath+=") == true)
    #expect(before["neovim"]?.advice?.contains("init.vim: set runtimepath+=") == true)
    #expect(before["emacs"]?.advice?.contains("load-path") == true)
    // An editor reads one settings file: the advice must name that file.
    let home = user.directory.path
    for path in [".vim", ".config/nvim"] {
      try FileManager.default.createDirectory(atPath: home + "/" + path, withIntermediateDirectories: true)
    }
    for path in [".vim/vimrc", ".config/nvim/init.lua"] {
      try "\n".write(toFile: home + "/" + path, atomically: true, encoding: .utf8)
    }
    let with = try diagnose(user, environment: ["PATH": folder]).findings
    #expect(with["vim"]?.advice?.hasPrefix("Add to ~/.vim/vimrc: set runtimepath+=") == true)
    #expect(with["neovim"]?.advice?.hasPrefix("Add to ~/.config/nvim/init.lua: vim.opt.runtimepath:append(") == true)
    // The line that it advises is enough.
    for (editor, path) in [("vim", ".vim/vimrc"), ("neovim", ".config/nvim/init.lua")] {
      let line = try #require(with[editor]?.advice?.split(separator: ": ", maxSplits: 1).last)
      try "\(line)\n".write(toFile: home + "/" + path, atomically: true, encoding: .utf8)
      #expect(try diagnose(user, environment: ["PATH": folder]).findings[editor]?.advice == nil)
    }
    try FileManager.default.removeItem(atPath: home + "/.vim/vimrc")
    try "set rtp+=~/src/notes-lsp/vim\n".write(
      toFile: user.directory.file(".vimrc"), atomically: true, encoding: .utf8)
    try FileManager.default.createDirectory(
      atPath: user.directory.path + "/.emacs.d/elpa/notes-lsp-0.1", withIntermediateDirectories: true)
    let after = try diagnose(user, environment: ["PATH": folder]).findings
    for editor in ["vim", "emacs"] {
      #expect(after[editor]?.isGood == true && after[editor]?.advice == nil, "\(after)")
    }
  }
}

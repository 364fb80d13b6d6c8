import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// What `notes-lsp doctor` finds, and that it says what to do about it.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct DoctorTests {
  private struct Finding {
    var isGood: Bool
    var text: String
    var advice: String?
  }

  /// Runs it for a person.
  private func diagnose(
    _ user: NotesUser, prefix: [String] = [], environment: [String: String] = [:]
  ) throws -> (exit: ChildProcess.Exit, findings: [String: Finding]) {
    let binary = try #require(NotesBinary.path)
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

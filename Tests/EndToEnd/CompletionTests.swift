import Foundation
import NotesHarness
import TestSupport
import Testing

/// The words that a shell offers when a person presses the completion key.
@Suite(.enabled(if: Requirements.binary, Requirements.binaryComment))
struct CompletionTests {}

extension CompletionTests {
  /// Loads the script that `make install` installs into a bash, and returns what that bash offers for the last word.
  private func offers(_ words: String..., notes: String, _ folder: TemporaryDirectory) throws -> [String] {
    let binary = try #require(NotesBinary.path)
    let script = """
      PATH=\((binary as NSString).deletingLastPathComponent):$PATH
      source <(notes-lsp --generate-completion-script bash)
      COMP_WORDS=(\((["notes-lsp"] + words).map { "'\($0)'" }.joined(separator: " ")))
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
      _notes-lsp notes-lsp "${COMP_WORDS[$COMP_CWORD]}" "${COMP_WORDS[$COMP_CWORD-1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let result = try ChildProcess.run(
      ["bash", "-c", "cd '\(folder.path)' && \(script)"], environment: ["NOTES_DIR": notes])
    return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
  }

  @Test func commandsOptionsFormatsAndTitlesAreOffered() throws {
    let ana = try NotesUser("Ana")
    for title in ["Shopping list", "Tea", "Größen"] { #expect(try ana.run(["new", title]).exit == .code(0)) }
    #expect(try offers("sha", notes: ana.notes, ana.directory) == ["share"])
    #expect(try offers("share", "Tea", "--re", notes: ana.notes, ana.directory) == ["--read-only"])
    #expect(
      try offers("export", "Tea", "x", "--format", "m", notes: ana.notes, ana.directory) == [
        "markdown", "meetingnotes",
      ])
    #expect(
      try offers("show", "", notes: ana.notes, ana.directory).filter { !$0.hasPrefix("-") } == [
        "Größen", "Shopping list", "Tea",
      ])
  }

  /// bash expands the words that a completion offers, and other people choose titles.
  @Test func aTitleThatAShellWouldRunIsNotOffered() throws {
    let ana = try NotesUser("Ana")
    for title in ["$(touch ran)", "`touch ran`", "x; touch ran", "$HOME", "~root", "--yes"] {
      try "".write(toFile: "\(ana.notes)/\(title).md", atomically: false, encoding: .utf8)
    }
    try "".write(toFile: "\(ana.notes)/Tea.md", atomically: false, encoding: .utf8)
    #expect(try offers("show", "", notes: ana.notes, ana.directory).filter { !$0.hasPrefix("--") } == ["Tea"])
    #expect(!FileManager.default.fileExists(atPath: ana.directory.file("ran")))
  }

  /// Shells whose offers can only be seen on a terminal, and how each loads the script that `make install` installs.
  private static let others = [
    ("fish", ["-N"], "notes-lsp --generate-completion-script fish | source"),
    (
      "zsh", ["-f", "-i"],
      "notes-lsp --generate-completion-script zsh > _notes-lsp; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D"
    ),
  ]

  @Test(arguments: others.filter { NotesBinary.find($0.0) != nil })
  func theOtherShellsOfferTheSame(shell: String, options: [String], loading: String) throws {
    let ana = try NotesUser("Ana")
    for title in ["Shopping list", "$(touch ran)", "`touch ran`", "x; touch ran"] {
      try "".write(toFile: "\(ana.notes)/\(title).md", atomically: false, encoding: .utf8)
    }
    let folder = (try #require(NotesBinary.path) as NSString).deletingLastPathComponent
    let terminal = try Terminal(
      in: ana.directory, name: shell, command: [shell] + options,
      environment: ["PATH": "\(folder):/usr/bin:/bin", "NOTES_DIR": ana.notes, "HOME": ana.directory.path])
    // A line that is typed before the shell reads keys is lost.
    try wait(for: ["#", "$", ">", "%"], on: terminal) { _ in }
    try terminal.type("cd '\(ana.directory.path)'; \(loading); clear; echo load''ed")
    try terminal.press("Enter")
    try wait(for: ["loaded"], on: terminal) { _ in }
    for (typed, offered) in [
      ("sha", "notes-lsp share "), ("share x --re", "notes-lsp share x --read-only"),
      ("show ", "notes-lsp show Shopping\\ list"),
    ] {
      try terminal.type("notes-lsp \(typed)")
      try wait(for: ["notes-lsp \(typed)".trimmingCharacters(in: .whitespaces)], on: terminal) { _ in }
      try wait(for: [offered.trimmingCharacters(in: .whitespaces)], on: terminal) { try $0.press("Tab") }
      try terminal.press("C-c")
      try terminal.type("clear")
      try terminal.press("Enter")
    }
    #expect(!FileManager.default.fileExists(atPath: ana.directory.file("ran")))
  }

  /// Waits until the screen shows one of the texts, after `first`.
  private func wait(for texts: [String], on terminal: Terminal, first: (Terminal) throws -> Void) throws {
    try first(terminal)
    let deadline = ContinuousClock.now + Patience.hang
    while true {
      let screen = try terminal.screen()
      if texts.contains(where: screen.contains) { return }
      guard ContinuousClock.now < deadline else {
        throw ProcessError.timedOut(waitingFor: "one of \(texts) on the screen", details: screen)
      }
    }
  }
}

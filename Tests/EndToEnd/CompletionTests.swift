import Foundation
import NotesHarness
import TestSupport
import Testing

/// What a shell offers when a person presses the key that completes a word.
@Suite(.enabled(if: Requirements.binary, Requirements.binaryComment))
struct CompletionTests {
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

  /// bash expands the words that it is offered, and other people choose titles.
  @Test func aTitleThatAShellWouldRunIsNotOffered() throws {
    let ana = try NotesUser("Ana")
    for title in ["$(touch ran)", "`touch ran`", "x; touch ran", "$HOME", "~root", "--yes"] {
      try "".write(toFile: "\(ana.notes)/\(title).md", atomically: false, encoding: .utf8)
    }
    try "".write(toFile: "\(ana.notes)/Tea.md", atomically: false, encoding: .utf8)
    #expect(try offers("show", "", notes: ana.notes, ana.directory).filter { !$0.hasPrefix("--") } == ["Tea"])
    #expect(!FileManager.default.fileExists(atPath: ana.directory.file("ran")))
  }
}

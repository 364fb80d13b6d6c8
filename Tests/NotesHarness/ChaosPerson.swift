import Foundation
import JSONRPC
import TestSupport

/// One of two people in a chaos run: an editor that is killed and started again, and every word that was typed into it.
public final class ChaosPerson {
  public let user: NotesUser
  public let kind: any EditorUnderTest.Type
  public private(set) var editor: any EditorUnderTest
  /// Words that the buffer accepted, each on a line of its own. None of them may be lost.
  public private(set) var words: [String] = []
  private let key: Character
  private let seed: UInt64
  private var starts: UInt64 = 0
  private var count = 0
  private var toldBefore = ""
  /// Whether the folder of notes is a small file system of its own, which can be full.
  private let hasOwnDisk: Bool

  /// - Parameter key: begins and ends each word. With `j` or `k`, the digits between them are harmless in a buffer that
  ///   is read-only.
  public init(_ name: String, _ kind: any EditorUnderTest.Type, key: Character, seed: UInt64) throws {
    (user, self.kind, self.key, self.seed) = (try NotesUser(name), kind, key, seed)
    // A mount needs rights that not every user has; without it the disk cannot be filled.
    let mount = try ChildProcess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", user.notes])
    hasOwnDisk = mount.exit == .code(0)
    editor = try kind.init(user: user, seed: seed, maximumDelay: .zero)
  }

  deinit {
    if hasOwnDisk { _ = try? ChildProcess.run(["umount", "-l", user.notes]) }
  }

  /// Makes the folder of notes refuse all writes, or accept them again. False if this is not possible here.
  public func fillDisk(_ isFull: Bool) throws -> Bool {
    guard hasOwnDisk else { return false }
    let filler = user.notes + "/.filler"
    if isFull {
      _ = try ChildProcess.run(["dd", "if=/dev/zero", "of=" + filler, "bs=1k", "count=600"])
    } else if FileManager.default.fileExists(atPath: filler) {
      try FileManager.default.removeItem(atPath: filler)
    }
    return true
  }

  /// A word that no other person types. All numbers have the same number of digits, so that no word is a part of
  /// another.
  public func newWord() -> String {
    count += 1
    return "\(key)\(1000 + count)\(key)"
  }

  /// Types a word on a new line above the line with this number, as a person would. Counts it only if the buffer then
  /// has it: the buffer may have become read-only meanwhile.
  ///
  /// At the end of a line, the other person may be in the middle of a word: both would type after the same letter, and
  /// the word could be torn in two. At the beginning of a line, each person types after their own letters.
  public func typeWord(aboveLine line: Int) throws {
    let word = newWord()
    switch editor {
    case is any VimLikeUnderTest:
      try editor.session.terminal.press("Escape")
      try editor.session.terminal.type("\(line)GO\(word)")
      try editor.session.terminal.press("Escape")
    default:
      try editor.session.terminal.press("Escape", "Escape", "Escape", "M-g", "g")
      try editor.session.terminal.type("\(line)")
      try editor.session.terminal.press("Enter", "C-a")
      try editor.session.terminal.type(word)
      try editor.session.terminal.press("Enter")
    }
    // The editor answers after it has handled the keys before the question.
    if try buffers().contains(where: { $0.contains(word) }) { words.append(word) }
  }

  /// A word that another program wrote to the file of this person's note.
  public func expect(_ word: String) { words.append(word) }

  /// The texts of all buffers that have a file.
  public func buffers() throws -> [String] {
    let code =
      editor is any VimLikeUnderTest
      ? vim(
        #"map(filter(getbufinfo({'bufloaded': 1}), {_, b -> getbufvar(b.bufnr, '&buftype') == ''}), {_, b -> join(getbufline(b.bufnr, 1, '$'), "\n")})"#
      )
      : #"(vconcat (delq nil (mapcar (lambda (b) (with-current-buffer b (and buffer-file-name (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max)))))) (buffer-list))))"#
    return try editor.evaluate(code).arrayValue?.compactMap(\.stringValue) ?? []
  }

  /// Vim's expression, as the editor evaluates it.
  private func vim(_ expression: String) -> String {
    editor is NeovimUnderTest ? "vim.fn.eval([==[\(expression)]==])" : expression
  }

  /// Saves as a person would, and cancels any question that the save asks. Vim's disappears with the next key; Emacs's
  /// would stay, and with it the news that waits for its answer.
  public func save() throws {
    if editor is any VimLikeUnderTest {
      try editor.session.terminal.press("Escape")
      try editor.session.terminal.type(":w")
      try editor.session.terminal.press("Enter")
    } else {
      try editor.session.terminal.press("C-x", "C-s")
      // The editor answers after it has handled the keys before. The command may first ask the service, and then the
      // person.
      let state = "(cond ((active-minibuffer-window) \"asks\") ((eq this-command 'save-buffer) \"saves\") (t \"idle\"))"
      try editor.session.wait(for: "the save to end, or to ask") {
        let now = try editor.evaluate(state)
        if now == "asks" { try editor.session.terminal.press("Escape", "Escape", "Escape") }
        return now != "saves"
      }
    }
  }

  /// Waits until the service knows everything that was typed.
  public func waitUntilSent() throws {
    try editor.session.wait(for: "\(user.name)'s words to be sent") { try editor.state()?.isSynced ?? true }
  }

  /// Kills the editor with everything that it has not sent, and starts another one, with no note open.
  public func killEditor() throws {
    toldBefore = try messages()
    let program = editor.session.terminal.programProcessId
    kill(program, SIGKILL)
    try editor.session.waitForEnd()
    editor.session.terminal.killServer()
    starts += 1
    editor = try kind.init(user: user, seed: seed &+ 1000 &* starts, maximumDelay: .zero)
  }

  /// This person's texts beside the note: recovered texts, which `notes/recovered` lists, and buffers.
  public func copies() throws -> [String] {
    try buffers() + user.recoveredTexts
  }

  /// Presses a key that changes nothing: editors hold news back until the person has read an error or a warning.
  public func read() throws {
    try editor.session.terminal.press(editor is EmacsUnderTest ? "C-e" : "Escape")
  }

  /// The messages that this person's editors have shown, including editors that were killed.
  public func messages() throws -> String {
    let code = editor is any VimLikeUnderTest ? vim("execute('messages')") : Self.emacsMessages
    return toldBefore + (try editor.evaluate(code).stringValue ?? "")
  }

  public static let emacsMessages = #"(with-current-buffer "*Messages*" (buffer-string))"#

  /// All people's words in the buffer.
  public func wordsOnScreen() throws -> Set<String> {
    let text = try editor.state()?.text ?? ""
    return Set(text.matches(of: /j[0-9]{4}j|k[0-9]{4}k/).map { String($0.output) })
  }

  /// Whether the screen says that `other` has everything, and still does a moment later.
  public func claimsToBeSynced(with other: String) throws -> Bool {
    try Polling.holds(for: .milliseconds(60)) { try foot().contains("synced with \(other)") }
  }

  /// Stops the service, so that it sends nothing more, or continues it.
  public func haltService(_ isHalted: Bool) {
    guard let processId = editor.session.records.last?.processId, processId > 0 else { return }
    kill(processId, isHalted ? SIGSTOP : SIGCONT)
  }

  /// The last three lines of the terminal: the status line and the editor's messages. Includes the note's status line
  /// if the window below has another buffer, such as the agenda.
  public func foot() throws -> String {
    let lines = try editor.session.terminal.screen().split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }
    let status = lines.dropLast(3).filter { $0.contains(/\[note[:\]]|\[not a note:|Note[\[)]|Not a note\[/) }
    return (status + lines.suffix(3)).joined(separator: "\n")
  }
}

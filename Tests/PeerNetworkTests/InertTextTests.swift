import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A note's text is written by others, and editors take orders from the text of files. Not from that of notes.
@Suite(
  .serialized,
  .enabled(
    if: NotesBinary.path != nil && ["vim", "emacs", "tmux"].allSatisfy { NotesBinary.find($0) != nil },
    "needs notes-lsp, vim, emacs and tmux"))
struct InertTextTests {}

extension InertTextTests {
  // MARK: Emacs

  private static let orders: [(what: String, text: String)] = [
    (
      "a list of variables", "plans\n\nLocal Variables:\nmode: emacs-lisp\nbuffer-read-only: t\nfill-column: 33\nEnd:\n"
    ),
    ("an evaluation", "plans\n\nLocal Variables:\neval: (setq notes-test-hit t)\nEnd:\n"),
    ("a mode in the first line", "-*- mode: emacs-lisp; fill-column: 33 -*-\nplans\n"),
    ("a mode by name", "-*- emacs-lisp -*-\nplans\n"),
    ("an interpreter", "#!/usr/bin/perl\nplans\n"),
    ("magic", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\nplans é\n"),
    ("a picture", "P6 1 1 255 plans\n"),
    ("a coding system", "-*- coding: latin-1 -*-\nplans é\n"),
    ("a coding system at the end", "plans é\n\nLocal Variables:\ncoding: utf-16\nEnd:\n"),
    ("escapes of ISO 2022", "plans \u{1B}$B$\"$$\u{1B}(B é\n"),
    ("escapes of ISO 2022 alone", "plans \u{1B}$B$\"$$\u{1B}(B\n"),
    (
      "an enriched text",
      "Content-Type: text/enriched\nText-Width: 70\n\n<bold>plans</bold> <x-display><param>(setq notes-test-hit t)</param>a</x-display>\n"
    ),
  ]

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
  }

  /// What the buffer is: mode, whether it can be written, a variable, whether something was evaluated, and its text.
  private static func look(_ emacs: EmacsUnderTest) throws -> [JSONValue] {
    try emacs.evaluate(
      """
      (with-current-buffer (window-buffer)
        (vector (symbol-name major-mode) (and buffer-read-only t) fill-column (bound-and-true-p notes-test-hit)
                (and (active-minibuffer-window) t) (bound-and-true-p enriched-mode)
                (buffer-substring-no-properties (point-min) (point-max))))
      """
    ).arrayValue ?? []
  }

  private static func check(_ emacs: EmacsUnderTest, _ order: (what: String, text: String), _ way: String) throws {
    try emacs.session.wait(for: "the text of \(order.what) by \(way)") {
      let seen = try look(emacs)
      return seen.count == 7 && seen[6].stringValue?.unicodeScalars.elementsEqual(order.text.unicodeScalars) == true
    }
    let seen = try look(emacs)
    #expect(
      seen[0].stringValue == "text-mode" || seen[0].stringValue == "fundamental-mode",
      "\(order.what) by \(way): \(seen[0])")
    #expect(seen[1...5] == [.null, 70, .null, .null, .null], "\(order.what) by \(way): \(seen)")
  }

  @Test func emacsTakesNoOrdersFromANote() throws {
    let user = try NotesUser("Ana")
    let service = try user.startInitialized()
    var paths: [String] = []
    for (number, order) in Self.orders.enumerated() {
      let place = try service.request("notes/create", ["title": "Note \(number)", "text": .string(order.text)])
      paths.append(try #require(place["path"]?.stringValue))
    }
    try service.shutdown()

    let emacs = try EmacsUnderTest(user: user, seed: 1, maximumDelay: .zero)
    // Whatever would be asked is taken for a yes.
    _ = try emacs.evaluate("(setq enable-local-variables :all enable-local-eval t)")
    for (order, path) in zip(Self.orders, paths) {
      // Only the service that named it knows yet that this is a note.
      try emacs.session.send(["expr", .string("(progn (find-file \(Self.quoted(path))) t)"), 0])
      try Self.check(emacs, order, "find-file")
      _ = try emacs.waitUntilAttached()
      try Self.check(emacs, order, "a command")
      try emacs.session.send(["expr", "(progn (revert-buffer t t) t)", 0])
      try Self.check(emacs, order, "revert-buffer")
      try emacs.session.send(["expr", "(progn (normal-mode) t)", 0])
      try Self.check(emacs, order, "normal-mode")
      // Saving raises no question about a coding system, and writes what is there.
      try emacs.session.send(["expr", "(progn (goto-char (point-max)) (insert \"more\\n\") (save-buffer) t)", 0])
      try emacs.session.wait(for: "\(order.what) to be saved") {
        (try? String(contentsOfFile: path, encoding: .utf8))?.unicodeScalars
          .elementsEqual((order.text + "more\n").unicodeScalars) == true
      }
      _ = try emacs.evaluate("(progn (kill-buffer) t)")
    }
    // What the person says for the whole folder counts.
    try "((nil . ((fill-column . 44))))".write(
      toFile: user.notes + "/.dir-locals.el", atomically: true, encoding: .utf8)
    _ = try emacs.evaluate("(progn (find-file \(Self.quoted(paths[0]))) t)")
    #expect(try emacs.evaluate("fill-column") == 44)
    try emacs.quit()
    try emacs.session.waitForEnd()
  }

  /// The control: in any other file Emacs does what its text says.
  @Test func emacsObeysOtherFilesAsAlways() throws {
    let emacs = try EmacsUnderTest(user: try NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let path = emacs.session.user.directory.file("own.md")
    try Self.orders[0].text.write(toFile: path, atomically: true, encoding: .utf8)
    _ = try emacs.evaluate("(progn (setq enable-local-variables :all) (find-file \(Self.quoted(path))) t)")
    let seen = try Self.look(emacs)
    #expect(seen[0] == "emacs-lisp-mode" && seen[1] == true && seen[2] == 33, "\(seen)")
    // The person's own file, with what it sets; as a note it sets nothing when it is read again.
    _ = try emacs.evaluate("(progn (setq buffer-read-only nil) (notes-adopt) t)")
    _ = try emacs.waitUntilAttached()
    try emacs.session.send(["expr", "(progn (kill-buffer) (find-file \(Self.quoted(path))) t)", 0])
    _ = try emacs.waitUntilAttached()
    try Self.check(emacs, Self.orders[0], "find-file of an adopted file")
    try emacs.quit()
    try emacs.session.waitForEnd()
  }

  // MARK: Vim

  private static let modelines = "vim: set ro ts=3 tw=33 ft=lisp:\nplans\nvim: set ts=3:\n"

  @Test func vimReadsNoModelinesInANote() throws {
    try Self.checkModelines(Self.options) { try VimUnderTest(user: $0, seed: 1, maximumDelay: .zero) }
  }

  @Test(.enabled(if: NeovimUnderTest.isHere, "needs nvim")) func norDoesNeovim() throws {
    try Self.checkModelines("vim.fn.eval('\(Self.options)')") {
      try NeovimUnderTest(user: $0, seed: 1, maximumDelay: .zero)
    }
  }

  private static let options = "[&l:readonly, &l:tabstop, &l:textwidth, &l:filetype, getline(2)]"

  private static func checkModelines(_ look: String, in start: (NotesUser) throws -> some VimLikeUnderTest) throws {
    let user = try NotesUser("Ana")
    let service = try user.startInitialized()
    let place = try service.request("notes/create", ["title": "Plans", "text": .string(modelines)])
    let path = try #require(place["path"]?.stringValue)
    try service.shutdown()

    let vim = try start(user)
    let own = user.directory.file("own.txt")
    try modelines.write(toFile: own, atomically: true, encoding: .utf8)
    func give(_ command: String) throws { try vim.session.send(["ex", .string(command)]) }
    func options() throws -> [JSONValue] { try vim.evaluate(look).arrayValue ?? [] }
    try give("set modeline modelines=5 | filetype on")

    // The control: in any other file the editor does what the text says.
    try give("edit \(own)")
    try vim.session.wait(for: "the modeline of another file") { try options().prefix(2) == [1, 3] }

    func check(_ way: String) throws {
      try vim.session.wait(for: "the note by \(way)") { try options().last == "plans" }
      let seen = try options()
      #expect(seen.prefix(3) == [0, 8, 0] && seen[3] != "lisp", "\(way): \(seen)")
    }
    // Before the service says that it is a note, and after.
    try give("edit \(path)")
    try check(":edit of a plain path")
    _ = try vim.waitUntilAttached()
    try check(":edit")
    try give("edit!")
    try check(":edit!")
    try give("doautocmd BufReadPost")
    try check(":doautocmd")
    try give("enew | bunload \(path)")
    try give("edit \(path)")
    try check(":bunload and :edit")
    _ = try vim.waitUntilAttached()
    try give("edit!")
    try check(":edit! after :bunload")
    try give("enew | bdelete \(path) | cd \(user.notes) | split Plans.md")
    try check(":bdelete and :split of a relative path")
    try give("only | enew | bunload! \(path) | buffer \(path)")
    try check(":bunload and :buffer")
    try give("checktime | view \(path) | set noreadonly")
    try check(":view")
    let session = user.directory.file("session.vim")
    try give("set sessionoptions=buffers,curdir | mksession! \(session) | %bwipeout! | source \(session)")
    try check("a session")
    try give("%bwipeout! | NotesOpen Plans")
    try check("a command")

    // A file that was adopted keeps what it set, and sets nothing when it is read again.
    try give("edit \(own) | set noreadonly | NotesAdopt")
    _ = try vim.waitUntilAttached()
    try give("bwipeout! | edit \(own)")
    try check("an adopted file")
    try vim.quit()
    try vim.session.waitForEnd()
  }
}

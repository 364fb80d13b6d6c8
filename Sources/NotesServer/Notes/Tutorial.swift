/// What the robot of the tutorial types, and what it waits for: lessons in a note, each typed when the previous one is
/// done.
struct Tutorial {
  /// The way in which the person gives commands.
  enum Keys: String, CaseIterable {
    case vim, emacs

    /// The name of a command as the person gives it, by its words.
    func command(_ words: String...) -> String {
      switch self {
      case .vim: ":Notes" + words.map(\.capitalized).joined()
      case .emacs: "M-x notes" + words.map { "-" + $0 }.joined()
      }
    }

    var undo: String { self == .vim ? "u" : "C-_" }
  }

  static let robot = "Robin"

  let keys: Keys
  /// How many lessons have been typed.
  private(set) var count = 0
  private var hasWritten = false

  init(_ keys: Keys) { self.keys = keys }

  var isOver: Bool { count == lessons.count }

  /// What the robot types now, at the end of the text; nil until the person has done the last lesson.
  mutating func next(in text: String) -> String? {
    guard !isOver, isDone(text) else { return nil }
    defer { count += 1 }
    return lessons[count]
  }

  /// What the person wrote in the first lesson.
  private static func name(in text: String) -> String? { answer(to: "My name:", in: text) }

  private static func answer(to question: String, in text: String) -> String? {
    guard let place = text.range(of: question) else { return nil }
    let words = text[place.upperBound...].prefix { !$0.isNewline }.split(whereSeparator: \.isWhitespace)
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  private mutating func isDone(_ text: String) -> Bool {
    switch count {
    case 0: return true
    case 1: return Self.name(in: text) != nil
    case 2: return text.contains("made of cheese")
    case 3:
      let isWritten = Self.answer(to: "Word:", in: text) != nil
      hasWritten = hasWritten || isWritten
      return hasWritten && !isWritten
    default: return text.lowercased().components(separatedBy: "[x]").count - 1 >= count - 3
    }
  }

  private var lessons: [String] {
    [
      """

      I am \(Self.robot), a robot. I type in this note as another person would,
      and you can type at the same time.

      1. Type your name after the colon. There is no need to wait for me.
         My name:

      My typing never moves your cursor.

      """,
      """

      Good. We both typed at once, and nothing was lost.

      2. Correct the last word: the moon is made of chese.

      """,
      """

      3. Type a word after the colon, then undo that with \(keys.undo).
         Undo reverts what you typed, and never what I type.
         Word:

      I typed this line, and it stays. If I go on below your screen, scroll down.

      """,
      """

      4. \(keys.command("blame")) shows who wrote each line. Run it again to hide that.
         \(keys.command("history")) lists earlier versions of the note; q closes the list.
         Then type an x between the brackets: [ ]

      """,
      """

      5. \(keys.command("go")) jumps to my caret.
         \(keys.command("follow")) follows my caret until you press a key.
         Then type an x here: [ ]

      """,
      """

      6. \(keys.command("share")) makes a ticket. Send it to a friend, who passes it
         to \(keys.command("join")). Both of you must be online.
         \(keys.command()) lists your notes, \(keys.command("delete")) deletes this one.

      That is all. Goodbye!

      """,
    ]
  }
}

import AutomergeRepo
import Foundation

/// A ticket as an editor shows it: what it allows, the ticket itself, and its words to read aloud.
struct TicketScreen {
  let lines: [String]

  /// - Parameter meeting: the title of the meeting that the ticket opens, if it is one: with all its items.
  init(
    _ ticket: SharedTicket, _ access: Access, uses: Int, meeting: String? = nil, width: Int, _ time: ScreenTime
  ) {
    let verb = access == .read ? "read" : "edit"
    let opened = meeting.map { "all of the meeting \"\(OneLine.shown($0))\"" } ?? "this note"
    let count = uses == 1 ? "one use" : "\(uses) uses"
    let by = ticket.expires.map { ", by " + time.full(Date(timeIntervalSince1970: Double($0) / 1000)) } ?? ""
    let allowed = "Anyone with this ticket can \(verb) \(opened) (\(count))"
    lines =
      (meeting == nil ? [allowed] : Self.wrapped(allowed, to: width)) + [""] + Self.wrapped(ticket.text, to: width)
      + ["", "Or read aloud:"] + Self.wrapped(ticket.words, to: width)
      + [
        "", "You must both be online, and in reach of each other\(by).",
        "Copied. :NotesTicket closes this, and shows it again",
      ]
  }

  /// Lines of at most that width, broken between words; a longer word is broken inside.
  static func wrapped(_ text: String, to width: Int) -> [String] {
    let width = max(1, width)
    var lines = [""]
    for word in text.split(whereSeparator: \.isWhitespace) {
      var line = lines.removeLast()
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
      while line.count > width {
        lines.append(String(line.prefix(width)))
        line = String(line.dropFirst(width))
      }
      lines.append(line)
    }
    return lines
  }
}

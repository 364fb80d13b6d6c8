import Foundation
import JSONRPC

@testable import NotesServer
@testable import PeerNetwork
@testable import PeerTransport

/// What peers call themselves, their notes and their tickets, wherever this person reads it.
public enum WordShapes {
  public static func check(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    for (shown, longest) in [
      (ForeignWords.name(text), ForeignWords.maximumNameLength),
      (ForeignWords.title(text), ForeignWords.maximumTitleLength),
    ] {
      guard let shown else { continue }
      try checkLine(shown, longest: longest)
      let scalars = shown.unicodeScalars
      let digits = scalars.count {
        [.decimalNumber, .letterNumber, .otherNumber].contains($0.properties.generalCategory)
      }
      try Broken.unless(digits <= ForeignWords.maximumDigits, "\(digits) digits in \(shown.debugDescription)")
      try Broken.unless(
        !scalars.contains { $0 != "'" && $0.properties.isQuotationMark }, "quotation marks in \(shown.debugDescription)"
      )
      try Broken.unless(!shown.contains("  "), "two blanks in \(shown.debugDescription)")
      try Broken.unless(
        (longest == ForeignWords.maximumNameLength ? ForeignWords.name(shown) : ForeignWords.title(shown)) == shown,
        "\(shown.debugDescription) changes when it is shown again")
    }
    if let clean = KnownPeer.clean(text) {
      try checkLine(clean, longest: KnownPeer.maximumNameLength)
      try Broken.unless(KnownPeer.clean(clean) == clean, "\(clean.debugDescription) changes when it is cleaned again")
      try Broken.unless(!ForeignWords.key(of: clean).isEmpty, "a name that has no key: \(clean.debugDescription)")
    }
    let line = OneLine.shown(text)
    try Broken.unless(!line.unicodeScalars.contains(where: acts), "\(line.debugDescription) is not one harmless line")
    try checkTerminal(text)
    try checkLinks(text, input)
    try checkFileName(FileName.name(forTitle: text))
    try checkTicket(text)
    if let file = try? FileContents(reading: input) {
      try Broken.unless(file.bytes == input, "a file of \(input.count) bytes becomes another")
    }
    if let address = PeerAddress(text) {
      try Broken.unless(PeerAddress(address.description) == address, "\(address) becomes another address")
    }
  }

  /// What editors without a plugin find in a text.
  private static func checkLinks(_ text: String, _ input: [UInt8]) throws {
    let bytes = Array(text.utf8)
    let (source, title) = (PlainText(bytes), "b")
    let links = LinkedTitle.all(to: title, in: bytes, .utf16)
    try Broken.unless(links.count <= LinkedTitle.maximumCount + 1, "\(links.count) links")
    for link in links {
      let places = [link.part.lowerBound, link.part.upperBound].map { source.position(utf8Offset: $0, in: .utf16) }
      try Broken.unless(
        [link.range.start, link.range.end] == places, "\(link) does not stand there in \(text.debugDescription)")
      let line = ClientLine(at: link.range.start, in: source, .utf16)
      try Broken.unless(
        NoteLink.all(in: line.bytes[...]).contains { $0.part.lowerBound == line.offset } || bytes.count > 2000,
        "\(link) is no link of its own line in \(text.debugDescription)")
    }
    for heading in Headings.all(in: bytes) {
      try Broken.unless((1...6).contains(heading.level) && heading.title.utf8.count <= 3000, "\(heading)")
    }
    if NoteLink.canName(text), OneLine.shown(text) == text, !text.isEmpty {
      let found = NoteLink.all(in: Array("[[\(text)]]".utf8)[...]).map(\.title)
      try Broken.unless(found == [text], "a link to \(text.debugDescription) leads to \(found)")
    }
  }

  /// What our commands print of it, on a terminal and into a pipe.
  private static func checkTerminal(_ text: String) throws {
    let fields = [true, false].map { TerminalText.field(text, onTerminal: $0) }
    try Broken.unless(
      !fields[0].unicodeScalars.contains(where: acts), "\(fields[0].debugDescription) acts in a terminal")
    try Broken.unless(!fields[1].contains(where: \.isNewline), "\(fields[1].debugDescription) is not one line")
    let lines = TerminalText.text(text).unicodeScalars
    try Broken.unless(
      !lines.contains { $0 != "\n" && $0 != "\t" && acts($0) }, "\(String(lines).debugDescription) acts in a terminal")
    let value: JSONValue = ["title": .string(text)]
    let line = TerminalText.json(value)
    try Broken.unless(!line.unicodeScalars.contains(where: acts), "\(line.debugDescription) acts in a terminal")
    try Broken.unless(try JSONValue(parsing: Array(line.utf8)) == value, "\(line.debugDescription) is another value")
  }

  /// A line of others that stands beside ours.
  static func checkLine(_ text: String, longest: Int) throws {
    try Broken.unless(text.count <= longest, "\(text.debugDescription) is longer than \(longest)")
    try Broken.unless(!text.unicodeScalars.contains(where: acts), "\(text.debugDescription) is not one harmless line")
  }

  /// Controls, line ends, and what turns the direction of writing.
  private static func acts(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: scalar.properties.isBidiControl
    }
  }

  private static func checkFileName(_ name: String) throws {
    try Broken.unless(name.utf8.count <= FileName.maximumUTF8, "a file's name of \(name.utf8.count) bytes")
    try Broken.unless(!name.hasPrefix("."), "a hidden file: \(name.debugDescription)")
    try Broken.unless(
      !name.unicodeScalars.contains { $0 == "/" || acts($0) }, "no name for a file: \(name.debugDescription)")
  }

  static func checkTicket(_ text: String) throws {
    if let ticket = try? Ticket(parsing: text) {
      let again = try? Ticket(parsing: ticket.description)
      try Broken.unless(again == ticket, "\(ticket) becomes another ticket")
    }
    if let spoken = SpokenTicket(parsing: text) {
      try Broken.unless(SpokenTicket(parsing: spoken.words) == spoken, "\(spoken.words) become other words")
    }
  }
}

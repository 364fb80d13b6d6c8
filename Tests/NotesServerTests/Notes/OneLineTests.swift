import Automerge
import Foundation
import Testing

@testable import NotesServer

/// Other people write titles, and lists show one a line.
struct OneLineTests {
  @Test(arguments: ["\n", "\r\n", "\u{85}", "\u{2028}", "\u{2029}", "\u{0b}", "\u{0}", "\u{1b}"])
  func noTitleBeginsALineOfItsOwn(end: String) throws {
    let document = Document()
    let note = try NoteDocument(new: document, title: "Plans\(end)Forged.md:1: line", text: [], created: .distantPast)
    let title = try #require(note.title)
    #expect(title.hasPrefix("Plans ") && title.hasSuffix("Forged.md:1: line"))
    #expect(title.unicodeScalars.allSatisfy { $0.value >= 0x20 && ![0x85, 0x2028, 0x2029].contains($0.value) })
  }

  @Test func directionIsNotTurned() {
    #expect(OneLine.shown("a\u{202e}b\u{2066}c\u{85}\u{2069}d\u{200f}") == "abc d")
  }

  /// The control: words in any script, with the joiners that they need.
  @Test func ordinaryTitlesAreAsTheyAre() {
    for title in ["", "Plans", "Größe – 3 %", "می‌خواهم", "👩‍👩‍👧‍👦", "日本語", "שלום"] {
      #expect(OneLine.shown(title) == title)
    }
  }
}

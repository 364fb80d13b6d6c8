import TestSupport
import Testing

@testable import NotesServer

struct FileShapeTests {
  @Test(arguments: [
    ("a\nb\n", "a\nb\n", FileShape()), ("", "", FileShape()), ("\n", "\n", FileShape()),
    ("a\r\nb\r\n", "a\nb\n", FileShape(hasCarriageReturns: true)),
    ("a\r\nb", "a\nb\n", FileShape(hasCarriageReturns: true, lacksFinalNewline: true)),
    ("a\r\nb\n", "a\r\nb\n", FileShape()), ("a\rb\r\n", "a\rb\n", FileShape(hasCarriageReturns: true)),
    ("a\r\n\r", "a\n\r\n", FileShape(hasCarriageReturns: true, lacksFinalNewline: true)),
    ("\u{FEFF}a", "a\n", FileShape(hasByteOrderMark: true, lacksFinalNewline: true)),
  ]) func aFileIsTextAndShapeAndComesBackUnchanged(file: String, text: String, shape: FileShape) throws {
    let read = try FileContents(reading: Array(file.utf8))
    #expect(read.shape == shape)
    #expect(read.text == Array(text.utf8))
    #expect(read.bytes == Array(file.utf8))
  }

  @Test(arguments: UInt64(0)..<200) func everyTextComesBackUnchanged(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let parts = ["\r\n", "\n", "\r", "a", "é", "\u{FEFF}"]
    let kinds = Int.random(in: 1...parts.count, using: &generator)
    let file = (0..<Int.random(in: 0...8, using: &generator)).flatMap { _ in
      Array(parts[Int.random(in: 0..<kinds, using: &generator)].utf8)
    }
    let read = try FileContents(reading: file)
    #expect(read.bytes == file, "seed \(seed)")
  }

  @Test func anEditorMayShowAFileWithoutTheMissingNewline() throws {
    let contents = try FileContents(reading: Array("a\nb".utf8))
    #expect(contents.finalNewlineStep.applied(to: Array("a\nb".utf8)) == contents.text)
    #expect(FileContents(text: contents.text, shape: .plain).finalNewlineStep == .identity)
  }

  @Test func whatIsNotTextIsRefused() throws {
    #expect(try FileContents(reading: [0x61, 0, 0x0A]).bytes == [0x61, 0, 0x0A], "a note may have one")
    #expect(throws: NotTextError.invalidUTF8) { try FileContents(reading: [0x61, 0xC3]) }
    #expect(throws: NotTextError.invalidUTF8) { try FileContents(reading: [0xED, 0xA0, 0x80]) }
  }
}

struct FileNameTests {
  @Test(arguments: [
    ("Groceries", "Groceries.md"), ("", "Untitled.md"), ("  ", "Untitled.md"), ("...", "Untitled.md"),
    ("../../etc/passwd", "etc-passwd.md"), ("+!rm -r x", "!rm -r x.md"), ("--eval (x)", "eval (x).md"),
    ("-", "Untitled.md"),
    ("a-b+c", "a-b+c.md"), ("- .+- x", "x.md"), (".hidden", "hidden.md"), ("ends. . ", "ends.md"),
    ("a\nb\tc\u{1B}[31m\u{0}", "a b c [31m.md"), ("a\\b", "a-b.md"), ("Größe 📐", "Größe 📐.md"),
    ("\u{202E}evil", "evil.md"), ("What? Why: x", "What? Why: x.md"),
  ]) func titlesBecomeSafeNames(title: String, name: String) { #expect(FileName.name(forTitle: title) == name) }

  @Test(arguments: ["x", "é", "👨‍👩‍👧", "e\u{301}"]) func longTitlesAreCutBetweenCharacters(unit: String) {
    let title = String(repeating: unit, count: 400)
    for number in [1, 2, 10_000] {
      let name = FileName.name(forTitle: title, number: number)
      #expect(name.utf8.count <= 255 && name.utf8.count > 200)
      #expect(name.hasSuffix(number == 1 ? unit + ".md" : unit + " \(number).md"))
    }
  }

  @Test func takenNamesAreNumbered() {
    let taken: Set = ["Title.md", "Title 2.md"]
    #expect(FileName.candidates(for: "Title").first { !taken.contains($0) } == "Title 3.md")
    #expect(Array(FileName.candidates(for: "a/b", atMost: 2)) == ["a-b.md", "a-b 2.md"])
  }

  @Test func aFilesTitleIsItsNameWithoutTheExtension() {
    #expect(FileName.title(ofFile: "/home/ana/Ideas.v2.md") == "Ideas.v2")
    #expect(FileName.title(ofFile: "TODO") == "TODO")
    #expect(FileName.title(ofFile: ".md") == ".md")
    #expect(FileName.title(ofFile: "") == "Untitled")
  }
}

import AutomergeRepo
import Testing

@testable import NotesServer

@Suite struct PersonNameTests {
  @Test func theNameGivenLastCountsAndOldSettingsDoNotComeBack() {
    var name = PersonName(login: "root")
    #expect(name.name == "root" && !name.isGiven)
    #expect(name.set("Ana", by: .editor(client: "vim")))
    #expect(name.name == "Ana" && name.isGiven)
    name.choose("Zoe")
    #expect(!name.set("Ana", by: .editor(client: "vim")))
    #expect(name.name == "Zoe")
    // Each setting is remembered by itself, so that two editors do not take turns.
    #expect(name.set("Anna", by: .editor(client: "emacs")))
    #expect(!name.set("Ana", by: .editor(client: "vim")))
    #expect(name.name == "Anna")
    #expect(name.set("Ana M.", by: .option))
    #expect(name.name == "Ana M.")
  }

  @Test func theStoreHasTheSameName() {
    var name = PersonName(login: "root")
    _ = name.set("Ana", by: .option)
    name.choose("Zoe")
    var other = PersonName(login: "guest")
    other.take(name.record)
    #expect(other.name == "Zoe" && other.isGiven)
    #expect(!other.set("Ana", by: .option))
  }

  @Test(arguments: ["", "  ", "\u{1B}\n\u{200E}"]) func whatCannotBeShownIsNoName(_ text: String) {
    var name = PersonName(login: "root")
    #expect(!name.set(text, by: .option))
    #expect(!name.choose(text))
    #expect(name.name == "root")
  }

  @Test func aNameIsOneLineAndNotEndless() {
    var name = PersonName(login: "root")
    name.choose(" An\na\u{1B} " + String(repeating: "x", count: 1000))
    #expect(name.name.hasPrefix("Ana x") && name.name.unicodeScalars.count < 100)
  }
}

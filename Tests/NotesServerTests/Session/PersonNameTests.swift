import AutomergeRepo
import Testing

@testable import NotesServer

struct PersonNameTests {
  private func expect(
    _ name: inout PersonName, _ expected: Bool, _ action: (inout PersonName) -> Bool,
    at location: SourceLocation = #_sourceLocation
  ) {
    let result = action(&name)
    #expect(result == expected, sourceLocation: location)
  }

  @Test func theNameGivenLastCountsAndOldSettingsDoNotComeBack() {
    var name = PersonName(login: "root")
    #expect(name.name == "root" && !name.isGiven)
    expect(&name, true) { $0.set("Ana", by: .editor(client: "vim")) }
    #expect(name.name == "Ana" && name.isGiven)
    name.choose("Zoe")
    expect(&name, false) { $0.set("Ana", by: .editor(client: "vim")) }
    #expect(name.name == "Zoe")
    // Each setting is remembered by itself, so that two editors do not take turns.
    expect(&name, true) { $0.set("Anna", by: .editor(client: "emacs")) }
    expect(&name, false) { $0.set("Ana", by: .editor(client: "vim")) }
    #expect(name.name == "Anna")
    expect(&name, true) { $0.set("Ana M.", by: .option) }
    #expect(name.name == "Ana M.")
  }

  @Test func theStoreHasTheSameName() {
    var name = PersonName(login: "root")
    _ = name.set("Ana", by: .option)
    name.choose("Zoe")
    var other = PersonName(login: "guest")
    other.take(name.record)
    #expect(other.name == "Zoe" && other.isGiven)
    expect(&other, false) { $0.set("Ana", by: .option) }
  }

  @Test(arguments: ["", "  ", "\u{1B}\n\u{200E}"]) func whatCannotBeShownIsNoName(_ text: String) {
    var name = PersonName(login: "root")
    expect(&name, false) { $0.set(text, by: .option) }
    expect(&name, false) { $0.choose(text) }
    #expect(name.name == "root")
  }

  @Test func aNameIsOneLineAndNotEndless() {
    var name = PersonName(login: "root")
    name.choose(" An\na\u{1B} " + String(repeating: "x", count: 1000))
    #expect(name.name.hasPrefix("Ana x") && name.name.unicodeScalars.count < 100)
  }
}

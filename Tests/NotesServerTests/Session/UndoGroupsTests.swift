import Automerge
import Testing

@testable import NotesServer

struct UndoGroupsTests {
  /// A person at a keyboard, whose changes have numbers.
  private struct Person {
    var groups = UndoGroups()
    private var now = Duration.zero
    private var count: UInt8 = 0

    static func change(_ number: UInt8) throws -> ChangeHash {
      try #require(ChangeHash(bytes: [UInt8](repeating: number, count: 32)))
    }

    mutating func type(_ offset: Int, delete: Int = 0, _ text: String = "", after pause: Duration = .milliseconds(200))
      throws
    {
      try change([TextSplice(utf8Offset: offset, deleteUTF8: delete, insert: Array(text.utf8))], after: pause)
    }

    mutating func change(_ splices: [TextSplice], after pause: Duration = .milliseconds(200)) throws {
      now += pause
      count += 1
      groups.typed(try Self.change(count), splices, at: now)
    }

    /// The sizes of all groups, the last first.
    var sizes: [Int] {
      var groups = groups, sizes: [Int] = []
      while let group = groups.next(.undo) { sizes.append(group.changes.count) }
      return sizes
    }
  }

  @Test func whatIsTypedInOneGoIsOneGroup() throws {
    var person = Person()
    for (place, letter) in "hello".enumerated() { try person.type(place, String(letter)) }
    // The person corrects a typing error and types on.
    try person.type(4, delete: 1)
    try person.type(4, "o!")
    #expect(person.sizes == [7])
  }

  /// Vim's blockwise insertion, 20ifoo and 3oxy.
  @Test func whatAnEditorRepeatsBelongsToWhatWasTyped() throws {
    func insert(_ offset: Int, _ text: String) -> TextSplice {
      TextSplice(utf8Offset: offset, deleteUTF8: 0, insert: Array(text.utf8))
    }
    let repetitions = [
      [insert(12, "> "), insert(24, "> "), insert(36, "> ")], [insert(2, String(repeating: "> ", count: 40))],
      [insert(2, "\n> \n> ")],
    ]
    for repetition in repetitions {
      var person = Person()
      try person.type(0, ">")
      try person.type(1, " ")
      try person.change(repetition, after: .seconds(20))
      #expect(person.sizes == [3])
      try person.type(2, "x")
      #expect(person.sizes == [1, 3])
    }
  }

  @Test func theSameLettersElsewhereAreAnotherGroup() throws {
    for other in [["a"], ["ab", "ab"], ["aa", "b"], ["", ""]] {
      var person = Person()
      try person.type(0, "a")
      try person.change(
        other.enumerated().map { TextSplice(utf8Offset: 9 + 9 * $0, deleteUTF8: 0, insert: Array($1.utf8)) })
      #expect(person.sizes == [1, 1], "\(other)")
    }
    var far = Person()
    try far.type(0, "a")
    try far.type(9, "aaa", after: .seconds(20))
    #expect(far.sizes == [1, 1])
    var person = Person()
    try person.type(0, "a")
    try person.change([TextSplice(utf8Offset: 9, deleteUTF8: 1, insert: Array("aa".utf8))])
    #expect(person.sizes == [1, 1])
  }

  @Test func aLineThatIsReportedWithTheEndOfTheOneBeforeBeginsAGroup() throws {
    var person = Person()
    try person.type(0, "first line\n")
    try person.type(10, "\nsecond")
    try person.type(17, " line")
    #expect(person.sizes == [2, 1])
  }

  @Test func aLineThatIsReportedWithItsEndAndTheFinalNewlineIsWhole() throws {
    var person = Person()
    try person.type(0, "first line\n\n")
    try person.type(11, "second")
    #expect(person.sizes == [1, 1])
  }

  /// Vim's `o` and `O`, and Return at another place.
  @Test(arguments: [0, -1]) func aLineThatIsOpenedAndTypedIsOneGroup(side: Int) throws {
    var person = Person()
    try person.type(0, "a line")
    try person.type(20, "\n")
    try person.type(21 + side, "b")
    try person.type(22 + side, "elow")
    try person.type(26 + side, "\n")
    try person.type(27 + side, "c")
    #expect(person.sizes == [1, 4, 1])
  }

  @Test func linesThatAreOpenedOneAfterTheOtherAreOneGroupWithWhatIsTypedInThem() throws {
    var person = Person()
    try person.type(20, "\n")
    try person.type(21, "\n")
    try person.type(22, "b")
    #expect(person.sizes == [3])
  }

  @Test func pausesLinesJumpsAndLargePiecesBeginGroups() throws {
    var person = Person()
    try person.type(0, "a")
    try person.type(1, "b", after: .seconds(1))
    #expect(person.sizes == [1, 1])
    try person.type(2, "\n")
    try person.type(3, "c")
    #expect(person.sizes == [1, 2, 1])
    try person.type(0, "d")
    #expect(person.sizes == [1, 1, 2, 1])
    try person.type(1, String(repeating: "x", count: 65))
    try person.type(66, "e")
    try person.type(30, delete: 20)
    try person.type(30, "f")
    try person.change([
      TextSplice(utf8Offset: 0, deleteUTF8: 1, insert: []), TextSplice(utf8Offset: 9, deleteUTF8: 0, insert: [65]),
    ])
    try person.type(10, "g")
    #expect(person.sizes == [1, 1, 1, 1, 1, 1, 1, 1, 2, 1])
  }

  @Test func anEditorsFinalNewlineIsNoLineOfItsOwn() throws {
    var person = Person()
    try person.type(0, "a\n")
    try person.type(1, "b")
    // Enter, which the client reports as a line after the final line feed.
    try person.type(3, "\n")
    try person.type(3, "c")
    #expect(person.sizes == [1, 3])
  }

  @Test func othersMoveThePlaceButNotTheGroup() throws {
    var person = Person()
    try person.type(10, "a")
    let object = ObjId.ROOT
    person.groups.othersTyped([
      TextEdit(object: object, utf8Offset: 2, deleted: [1], inserted: [1, 2, 3]),
      TextEdit(object: object, utf8Offset: 40, deleted: [], inserted: [1]),
    ])
    try person.type(13, "b")
    #expect(person.sizes == [2])
    // The text around it was deleted.
    person.groups.othersTyped([
      TextEdit(object: object, utf8Offset: 9, deleted: [UInt8](repeating: 0, count: 9), inserted: [])
    ])
    try person.type(9, "c")
    #expect(person.sizes == [3])
  }

  @Test func typingEndsRedoingAndUndoingEndsTheGroup() throws {
    var person = Person()
    try person.type(0, "a")
    let (group, none) = (person.groups.next(.undo), person.groups.next(.undo))
    #expect(group?.changes.count == 1 && none == nil)
    let undone = try Person.change(100)
    person.groups.reverted(.undo, try #require(group), by: undone)
    let again = person.groups.next(.redo)
    #expect(again?.changes == [undone])
    person.groups.reverted(.redo, try #require(again), by: try Person.change(101))
    try person.type(1, "b", after: .zero)
    #expect(person.sizes == [1, 1])
    let last = person.groups.next(.undo)
    person.groups.reverted(.undo, try #require(last), by: try Person.change(102))
    try person.type(0, "c")
    let nothing = person.groups.next(.redo)
    #expect(nothing == nil)
  }

  @Test func theOldestAreForgotten() throws {
    var groups = UndoGroups()
    let change = try Person.change(1), splice = TextSplice(utf8Offset: 0, deleteUTF8: 0, insert: [65])
    for number in 0..<UndoGroups.maximumGroups + 10 { groups.typed(change, [splice], at: .seconds(number * 2)) }
    var count = 0
    while groups.next(.undo) != nil { count += 1 }
    #expect(count == UndoGroups.maximumGroups)
  }
}

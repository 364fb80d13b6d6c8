/// A person's colour and letter, the same wherever they are shown.
struct PersonMark: Hashable, Sendable {
  /// From 0 to 11.
  var color: Int
  var letter: Character
}

/// Gives each person a colour and a letter that never change.
///
/// Both are derived from the person's id and name, so they are mostly the same on every machine. If they are taken, the
/// person gets the next free ones, if there are any.
struct Palette: Sendable {
  static let colorCount = 12
  /// The most people that are remembered. The marks of further ones depend only on their ids.
  static let maximumPeople = 4096

  private var marks: [String: PersonMark] = [:]
  private var colorUses = [Int](repeating: 0, count: colorCount)
  private var letters: Set<Character> = []

  /// - Parameter wish: the colour that the person would like, which is granted at first if it is free
  mutating func mark(of person: String, name: String, wish: Int? = nil) -> PersonMark {
    if let mark = marks[person] { return mark }
    let mark = PersonMark(color: freeColor(for: person, wish: wish), letter: freeLetter(for: name))
    if marks.count < Self.maximumPeople {
      marks[person] = mark
      colorUses[mark.color] += 1
      letters.insert(mark.letter)
    }
    return mark
  }

  /// The colour that a person's id alone determines.
  static func color(of person: String) -> Int { Int(hash(person) % UInt64(colorCount)) }

  /// The wish if it is free; otherwise the colour used least, beginning with the person's own.
  private func freeColor(for person: String, wish: Int?) -> Int {
    if let wish, colorUses.indices.contains(wish), colorUses[wish] == 0 { return wish }
    let own = Self.color(of: person)
    let order = (0..<Self.colorCount).map { (own + $0) % Self.colorCount }
    return order.min { colorUses[$0] < colorUses[$1] } ?? own
  }

  /// The first free letter of the name; otherwise of the alphabet; otherwise the name's first, though it is taken.
  private func freeLetter(for name: String) -> Character {
    let own = name.uppercased().filter { $0.isLetter || $0.isNumber }
    let all = own + "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return all.first { !letters.contains($0) } ?? own.first ?? "?"
  }

  /// FNV-1a: the same on every machine.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

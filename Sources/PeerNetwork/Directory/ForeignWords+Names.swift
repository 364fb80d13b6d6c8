import AutomergeRepo
import Foundation

/// Comparing names.
extension ForeignWords {
  /// As many columns as the narrowest place has where editors show a name.
  private static let markedWidth = 16

  /// A name that belongs to another peer, marked with the beginning of this peer's id. Cut so that no place cuts off the mark.
  static func marked(_ name: String, _ peer: PeerId) -> String {
    let mark = " (\(peer.description.prefix(6)))", room = markedWidth - mark.count
    func width(_ letter: Character) -> Int { letter.unicodeScalars.contains { $0.value >= 0x1100 } ? 2 : 1 }
    guard name.reduce(0, { $0 + width($1) }) > room else { return name + mark }
    var used = 0
    // One column is for the ellipsis.
    let start = name.prefix { letter in
      used += width(letter)
      return used < room
    }
    return start + "…" + mark
  }

  /// Names that people would confuse have the same key: case, width, style, accents, blanks and look-alike letters of any
  /// script make no difference. Nor do `rn` and `m`, `vv` and `w`.
  static func key(of name: String) -> String {
    let plain = mapped(name.precomposedStringWithCompatibilityMapping, by: capitals)
    let folded = plain.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    let letters = folded.unicodeScalars.filter { ($0.properties.isAlphabetic || isDigit($0)) && !isBlank($0) }
    if letters.isEmpty { return folded }
    return mapped(String(String.UnicodeScalarView(letters)), by: lookalikes)
      .replacingOccurrences(of: "rn", with: "m").replacingOccurrences(of: "vv", with: "w")
  }

  private static func mapped(_ text: String, by table: [Unicode.Scalar: Unicode.Scalar]) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { table[$0] ?? $0 }))
  }

  /// Capitals of other scripts and what they look like; their small letters may look different.
  private static let capitals = table(
    // Greek, Cyrillic, Cherokee; then strokes that stand for letters.
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺ" + "АВЕЅІЈКМНОРСТУХԌԚԜ" + "ᎪᏴᎬᎻᎷᎠᎡᏚᎢᎳᏃᏦᏢᏀᏟᏞᏙᎫ" + "|ǀ∣",
    "abezhikmnoptyxcm" + "abesijkmhopctyxgqw" + "abehmdrstwzkpgclvj" + "lll")

  /// Small letters and digits and what they look like. A capital I, a small l and a 1 are one.
  private static let lookalikes = table(
    // Cyrillic, Greek, Armenian; Latin with strokes, without dots, and small capitals; digits.
    "аеорсухкмтвніјѕԁһгьпԛԝв" + "αβγεηορυνικτχωμ" + "օոսհցզ" + "øłđħŧıɑɡɩȷƅƒ" + "ʙɴʟʀʏɢʜɪᴀᴄᴅᴇᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡᴢ" + "01i",
    "aeopcyxkmtbhljsdhrbnqwb" + "abyenopuvlktxwu" + "onuhgq" + "oldhtlagljbf" + "bnlryghlacdejkmopstuvwz" + "oll")

  private static func table(_ others: String, _ latin: String) -> [Unicode.Scalar: Unicode.Scalar] {
    let pairs = zip(others.unicodeScalars, latin.unicodeScalars)
    assert(others.unicodeScalars.count == latin.unicodeScalars.count)
    return Dictionary(pairs) { first, _ in first }
  }
}

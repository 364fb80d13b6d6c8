import AutomergeRepo
import Foundation

/// Text from a peer that this person has not met, made safe to stand beside our own words.
///
/// The text is short, has no quotation marks but `'`, and no more than four digits, so that nothing in it can pass for a
/// sentence of ours or for the digits that two people compare.
enum ForeignWords {
  static let maximumNameLength = 20
  static let maximumTitleLength = 32
  /// A year has this many. Longer numbers are masked completely, with or without blanks in between.
  static let maximumDigits = 4
  private static let maximumMarksPerLetter = 2

  static func name(_ text: String) -> String? { shortened(text, to: maximumNameLength) }

  static func title(_ text: String) -> String? { shortened(text, to: maximumTitleLength) }

  private static func shortened(_ text: String, to length: Int) -> String? {
    guard let clean = KnownPeer.clean(text) else { return nil }
    let masksDigits = clean.unicodeScalars.count(where: isDigit) > maximumDigits
    var scalars = String.UnicodeScalarView()
    var markCount = 0
    for scalar in clean.unicodeScalars {
      let isMark = [.nonspacingMark, .enclosingMark, .spacingMark].contains(scalar.properties.generalCategory)
      markCount = isMark ? markCount + 1 : 0
      if isMark, markCount > maximumMarksPerLetter { continue }
      let shown: Unicode.Scalar =
        if isDigit(scalar), masksDigits { "#" } else if isQuote(scalar) { "'" } else if isBlank(scalar) { " " } else {
          scalar
        }
      if shown == " ", scalars.last == " " || scalars.isEmpty { continue }
      scalars.append(shown)
    }
    if scalars.last == " " { scalars.removeLast() }
    let words = String(scalars)
    guard !words.isEmpty else { return nil }
    return words.count <= length ? words : String(words.prefix(length - 1)) + "…"
  }

  /// Digits of any script, circled ones and Roman numerals too; not the numbers among Chinese words.
  static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    [.decimalNumber, .letterNumber, .otherNumber].contains(scalar.properties.generalCategory)
  }

  private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .initialPunctuation, .finalPunctuation: true
    default: scalar.properties.isQuotationMark || "`´ʹʺˮ′″‴".unicodeScalars.contains(scalar)
    }
  }

  /// Blanks, also those that Unicode counts as letters.
  static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || "\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}".unicodeScalars.contains(scalar)
  }
}

import Automerge
import TestSupport
import Testing

@testable import NotesServer

struct TextPieceTests {
  private static let scalars: [Unicode.Scalar] = ["a", "b", " ", "\n", "é", "한", "😀", "\u{301}"]

  private func randomText(_ count: Int, using random: inout SeededGenerator) -> [UInt8] {
    var text = String.UnicodeScalarView()
    for _ in 0..<count { text.append(Self.scalars.randomElement(using: &random) ?? "a") }
    return Array(String(text).utf8)
  }

  /// The measures before each scalar and at the end, counted one by one.
  private func places(in bytes: [UInt8]) -> [TextMeasure] {
    bytes.indices.filter { !bytes[$0].continuesScalar }.map { TextMeasure(of: bytes[..<$0]) } + [TextMeasure(of: bytes)]
  }

  @Test(arguments: [0, 1, 40, 300, 1500]) func lookUpsFindWhatCountingFinds(scalarCount: Int) {
    let seed = UInt64(scalarCount)
    var random = SeededGenerator(seed: seed)
    let bytes = randomText(scalarCount, using: &random)
    let places = places(in: bytes)
    // Made in every way: at once, from pieces, and cut out of a longer piece.
    var grown = TextPiece([])
    var rest = bytes[...]
    while !rest.isEmpty {
      var count = min(rest.count, Int.random(in: 1...200, using: &random))
      while count < rest.count, rest[rest.startIndex + count].continuesScalar { count += 1 }
      grown = grown + TextPiece(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    let cut = TextPiece(Array("ab".utf8) + bytes + Array("c".utf8))[2..<bytes.count + 2]
    let (whole, half) = (TextPiece(bytes), places[places.count / 2].utf8)
    for piece in [whole, grown, cut, whole[0..<half] + whole[half..<bytes.count]] {
      #expect(piece.measure == places.last && piece.bytes == bytes && piece == TextPiece(bytes))
      for unit in [TextUnit.utf8, .scalars, .utf16] {
        for offset in 0...piece.measure[unit] + 2 {
          let expected = places.last { $0[unit] <= offset } ?? .zero
          #expect(piece.measure(unit, offset: offset) == expected, "\(unit) \(offset), seed \(seed)")
        }
      }
      for line in stride(from: 1, through: piece.measure.newlines, by: 1) {
        #expect(piece.measure(throughNewline: line) == places.first { $0.newlines == line }, "seed \(seed)")
      }
      #expect(piece.measure(throughNewline: 0) == .zero)
    }
  }

  /// An editor that repeats a command thousands of times causes as many lookups, all over the text that it has just
  /// inserted.
  @Test func lookUpsInALongPieceAreQuick() {
    let seed: UInt64 = 9
    var random = SeededGenerator(seed: seed)
    let line = Array("한글 and words, sixty-four bytes of them, as notes have them all.\n".utf8)
    let piece = TextPiece(Array(repeatElement(line, count: 16_000).joined()))
    let took = ProcessorTime.inThisThread {
      for _ in 0..<20_000 {
        let number = Int.random(in: 0..<16_000, using: &random)
        #expect(piece.measure(.utf8, offset: number * line.count).newlines == number, "seed \(seed)")
        #expect(piece.measure(throughNewline: number).utf8 == number * line.count, "seed \(seed)")
      }
    }
    // Reading the piece from its beginning each time would take many minutes in an unoptimised build.
    #expect(took.seconds < 20)
  }

  @Test func bytesThatAreNoTextAreMeasuredToo() {
    let bytes = [UInt8](repeating: 0x80, count: 2000)
    let piece = TextPiece(bytes) + TextPiece(bytes)
    #expect(piece.measure.utf8 == 4000 && piece.measure.scalars == 0)
    #expect(piece.measure(.utf8, offset: 1000).utf8 <= 1000)
    #expect(piece[1500..<2500] == TextPiece(Array(bytes.prefix(1000))))
    #expect(piece[1500..<2500].measure == TextPiece(Array(bytes.prefix(1000))).measure)
  }
}

import Crypto

/// Makes mutated chunks pass the outermost checks, so that a fuzzer gets to what lies behind them.
///
/// Input that begins with a chunk's magic is cut at every magic; each piece gets a body length that reaches to the next
/// one and the checksum that its body has. Any other input loses its first byte and is left alone: framing is tested so.
public func sealed(_ input: [UInt8]) -> [UInt8] {
  guard input.starts(with: magic) else { return Array(input.dropFirst()) }
  var output: [UInt8] = []
  var start = 0
  while start < input.count {
    let end = nextMagic(in: input, from: start + magic.count) ?? input.count
    output += frame(input[start..<end])
    start = end
  }
  return output
}

private let magic: [UInt8] = [0x85, 0x6f, 0x4a, 0x83]

private func nextMagic(in input: [UInt8], from start: Int) -> Int? {
  guard start + magic.count <= input.count else { return nil }
  return (start...input.count - magic.count).first { input[$0...].starts(with: magic) }
}

private func frame(_ piece: ArraySlice<UInt8>) -> [UInt8] {
  guard piece.count > 10 else { return Array(piece) }
  let type = piece[piece.startIndex + 8]
  let lengthStart = piece.startIndex + 9
  // Of a compressed change, the checksum is the one of what it inflates to.
  guard type != 2, let lengthEnd = piece[lengthStart...].firstIndex(where: { $0 & 0x80 == 0 }) else {
    return Array(piece)
  }
  let hashed = [type] + uleb(piece.endIndex - lengthEnd - 1) + piece[(lengthEnd + 1)...]
  return magic + SHA256.hash(data: hashed).prefix(4) + hashed
}

/// A number in the format's unsigned LEB128.
public func uleb(_ number: Int) -> [UInt8] {
  var bytes: [UInt8] = [], left = UInt(number)
  repeat {
    bytes.append(UInt8(left & 0x7f) | (left > 0x7f ? 0x80 : 0))
    left >>= 7
  } while left > 0
  return bytes
}

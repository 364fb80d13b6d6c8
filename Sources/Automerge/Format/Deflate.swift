import CDeflate
import CZlib

/// Raw DEFLATE (RFC 1951) in whole buffers: libdeflate compresses, which is twice as fast, and zlib inflates, which can stop at
/// any byte of a stream that would become too large. The only file that calls either.
///
/// Unsafe because both take pointers. Each stream lives inside one call, its buffers are arrays that outlive the call,
/// and every path out of the call ends the stream.
package enum Deflate {
  /// A raw stream: no zlib header, the largest window.
  private static let windowBits: Int32 = -15
  private static let chunkByteCount = 64 << 10
  /// After this much output, the size of the whole output is estimated.
  private static let sampleByteCount = 2 << 20

  /// Makes about what zlib makes at its default level.
  private static let level: Int32 = 6

  /// - Complexity: O(n), about 15 ns a byte of text; takes 656 KiB beside the output.
  package static func deflate(_ input: ArraySlice<UInt8>) -> [UInt8] {
    let compressor = libdeflate_alloc_compressor(level)
    precondition(compressor != nil, "libdeflate has memory for a compressor")
    defer { libdeflate_free_compressor(compressor) }
    let bound = libdeflate_deflate_compress_bound(compressor, input.count)
    return input.withUnsafeBufferPointer { source in
      [UInt8](unsafeUninitializedCapacity: bound) { output, count in
        count = libdeflate_deflate_compress(compressor, source.baseAddress, source.count, output.baseAddress, bound)
      }
    }
  }

  /// The bytes of the first stream in `input`; what follows it is ignored.
  /// - Parameter limit: the most bytes that the stream may hold
  static func inflate(_ input: ArraySlice<UInt8>, limit: Int) throws(FormatError) -> [UInt8] {
    var budget = limit
    return try inflate(input, limit: limit, from: &budget)
  }

  /// The same, for streams that share a budget.
  /// - Parameter budget: how many bytes may still be inflated; reduced by what was, also by a bad stream
  static func inflate(
    _ input: ArraySlice<UInt8>, limit: Int = .max, from budget: inout Int
  ) throws(FormatError) -> [UInt8] {
    let limit = min(limit, budget)
    guard limit > 0 else { throw .inflatedTooLarge(limit: limit) }
    var stream = z_stream()
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw .badDeflate
    }
    defer {
      budget -= min(budget, Int(stream.total_out))
      inflateEnd(&stream)
    }
    var output: [UInt8] = []
    switch run(&stream, input, into: &output, limit: limit, { CZlib.inflate($0, Z_NO_FLUSH) }) {
    case .ended: return output
    case .failed: throw .badDeflate
    case .limitReached: throw .inflatedTooLarge(limit: limit)
    }
  }

  private enum Outcome { case ended, failed, limitReached }

  /// Feeds all of `input` and collects the output piece by piece, so that memory grows only with the actual output.
  private static func run(
    _ stream: inout z_stream, _ input: ArraySlice<UInt8>, into output: inout [UInt8], limit: Int,
    _ step: (UnsafeMutablePointer<z_stream>) -> Int32
  ) -> Outcome {
    // `avail_in` has 32 bits, and longer input never occurs.
    guard let available = UInt32(exactly: input.count) else { return .failed }
    return input.withUnsafeBufferPointer { source in
      stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
      stream.avail_in = available
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: chunkByteCount) { buffer in
        while true {
          stream.next_out = buffer.baseAddress
          stream.avail_out = UInt32(chunkByteCount)
          let status = step(&stream)
          let produced = chunkByteCount - Int(stream.avail_out)
          if produced > limit - output.count { return .limitReached }
          // At this rate the output will exceed the limit: stop before it takes all that memory.
          if output.count >= sampleByteCount {
            let perByte = Double(stream.total_out) / Double(max(1, stream.total_in))
            if perByte * Double(available) > 2 * Double(limit) { return .limitReached }
          }
          output.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<produced]))
          switch status {
          case Z_STREAM_END: return .ended
          // No progress, or all input read while there is room for output: the stream is truncated.
          case Z_OK where produced == 0 || (stream.avail_in == 0 && stream.avail_out > 0): return .failed
          case Z_OK: continue
          default: return .failed
          }
        }
      }
    }
  }
}

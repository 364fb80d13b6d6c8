import TestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

struct FrameTests {
  @Test func framesSplitAtEveryByteComeOutWhole() throws {
    let bodies: [[UInt8]] = [[1], [2, 3], Array(repeating: 7, count: 300)]
    let stream = try bodies.flatMap { try Frame.encode($0) }
    for split in 0...stream.count {
      var decoder = FrameDecoder()
      var found: [[UInt8]] = []
      for part in [stream[..<split], stream[split...]] {
        decoder.append(part)
        while let body = try decoder.next() { found.append(body) }
      }
      #expect(found == bodies)
      #expect(decoder.bufferedByteCount == 0)
    }
    var decoder = FrameDecoder()
    var found: [[UInt8]] = []
    for byte in stream {
      decoder.append([byte])
      while let body = try decoder.next() { found.append(body) }
    }
    #expect(found == bodies)
  }

  @Test(
    arguments: [
      ([0, 0, 0, 0], FrameError.empty), ([0, 0, 0x10, 1], .tooLong(byteCount: 4097, limit: 4096)),
      ([0x80, 0, 0, 0], .tooLong(byteCount: 1 << 31, limit: 4096)),
      ([0xff, 0xff, 0xff, 0xff], .tooLong(byteCount: 0xffff_ffff, limit: 4096)),
    ] as [([UInt8], FrameError)])
  func lyingLengthsAreRefusedBeforeAnythingIsKept(head: [UInt8], error: FrameError) {
    var decoder = FrameDecoder()
    decoder.append(head)
    #expect(throws: error) { try decoder.next() }
  }

  @Test func memoryGrowsOnlyWithWhatComes() throws {
    var decoder = FrameDecoder(maximumByteCount: Frame.maximumByteCount)
    decoder.append([4, 0, 0, 0])
    #expect(try decoder.next() == nil)
    decoder.append([UInt8](repeating: 1, count: 1000))
    #expect(try decoder.next() == nil)
    #expect(decoder.bufferedByteCount == 1004)
  }

  @Test func nothingAndTooMuchIsNotSent() {
    #expect(throws: FrameError.empty) { try Frame.encode([]) }
    let limit = Frame.maximumByteCount
    #expect(throws: FrameError.tooLong(byteCount: limit + 1, limit: limit)) {
      try Frame.encode([UInt8](repeating: 0, count: limit + 1))
    }
  }

  @Test func randomBytesNeverDoHarm() {
    let seed: UInt64 = 99
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      var decoder = FrameDecoder()
      for _ in 0..<10 {
        decoder.append(
          (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) })
        do {
          while try decoder.next() != nil {}
        } catch {
          break
        }
      }
      #expect(decoder.bufferedByteCount <= 200, "seed \(seed)")
    }
  }
}

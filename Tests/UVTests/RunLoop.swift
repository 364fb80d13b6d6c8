import Synchronization
import TestSupport
import Testing
import UV

/// Runs a loop on the calling thread until a callback stops it; a test that never does so fails at the deadline.
func runLoop(deadline: Duration = Patience.hang, _ body: (Loop) throws -> Void) throws {
  let loop = try Loop()
  defer { loop.closeHandles() }
  try body(loop)
  try loop.after(deadline) {
    Issue.record("nothing stopped the loop within \(deadline)")
    loop.stop()
  }
  loop.run()
}

/// Something that callbacks change and the test looks at afterwards, all on the loop's thread.
final class Box<Value> {
  var value: Value

  init(_ value: Value) { self.value = value }
}

/// Bytes in blocks of a length that fits no buffer, each with its number in front, so that a lost or doubled piece shows.
func pattern(byteCount: Int) -> [UInt8] {
  let block = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(byteCount + block.count)
  while bytes.count < byteCount {
    bytes += [UInt8(truncatingIfNeeded: bytes.count >> 16)]
    bytes += block
  }
  return Array(bytes.prefix(byteCount))
}

/// Something that several threads change.
final class Shared<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }

  var value: Value { mutex.withLock { $0 } }

  func change(_ body: @Sendable (inout Value) -> Void) { mutex.withLock { body(&$0) } }
}

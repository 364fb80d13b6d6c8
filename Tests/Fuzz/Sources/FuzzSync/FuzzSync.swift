import Automerge
import Foundation
import FuzzSupport

/// Receiving foreign sync messages, and answering them.
///
/// The input is a message; or, if its first byte is 0 or 1, what stands in one before its changes (as long as the second
/// byte says), and then chunks that are sealed and packed into it. The same message comes twice, as a network may have it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSync(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  let bytes = Data(message(input))
  let document = example.fork()
  let before = document.heads()
  let state = (try? SyncState(bytes: bytes)) ?? SyncState()
  for _ in 0..<2 {
    try? document.receiveSyncMessage(state: state, message: bytes)
    var answers = 0
    while document.generateSyncMessage(state: state) != nil {
      answers += 1
      precondition(answers < 10, "there is always something to say")
    }
    guard (try? SyncState(bytes: state.encode())) != nil else { preconditionFailure("a kept state cannot be read") }
  }
  if document.heads() != before { check(document) }
  return 0
}

private func message(_ input: [UInt8]) -> [UInt8] {
  guard input.count > 2, input[0] < 2 else { return input }
  let headEnd = min(input.count, 2 + Int(input[1]))
  let chunks = sealed(Array(input[headEnd...]))
  return [0x42 + input[0]] + input[2..<headEnd] + [1] + uleb(chunks.count) + chunks + [2, 2, 0x84]
}

nonisolated(unsafe) private let example = exampleDocument()

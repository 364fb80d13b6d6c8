import Automerge
import Foundation
import FuzzSupport

/// Applying foreign chunks to a document that has something to spoil, and to an empty one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzApply(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  let chunks = Data(sealed(input))
  for document in [example.fork(), Document()] {
    let before = document.heads()
    try? document.applyEncodedChanges(encoded: chunks)
    if document.heads() != before { check(document) }
  }
  return 0
}

nonisolated(unsafe) private let example = exampleDocument()

import Automerge
import Foundation
import FuzzSupport

/// Loading a file: whatever loads, saves and loads again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLoad(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  if let document = try? Document(Data(sealed(input))) { check(document) }
  return 0
}

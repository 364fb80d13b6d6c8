import HostileShapes

/// Names, titles, tickets and files, where people read them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWords(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try WordShapes.check(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}

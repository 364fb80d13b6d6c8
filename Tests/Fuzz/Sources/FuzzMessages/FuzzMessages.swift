import HostileShapes

/// Frames, messages and all that is in them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try MessageShapes.check(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}

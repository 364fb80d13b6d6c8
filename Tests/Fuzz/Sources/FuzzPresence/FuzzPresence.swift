import HostileShapes

/// Presence over hostile links and an honest one: the input is what comes, step by step.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPresence(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try PresenceShapes.check(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}

import HostileShapes

/// Invitations in any order: the input is what happens, step by step.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMeeting(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try MeetingShapes.check(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}

import Foundation
import HostileShapes

/// One of the formats, the one that `NOTES_FUZZ` names.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFormats(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try format.check(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}

private let format: FormatShapes = {
  let name = ProcessInfo.processInfo.environment["NOTES_FUZZ"] ?? ""
  guard let format = FormatShapes(rawValue: name) else { preconditionFailure("NOTES_FUZZ names no format: \(name)") }
  return format
}()

/// Why a child process could not be started, talked to or waited for.
public enum ProcessError: Error, CustomStringConvertible {
  case system(call: String, errno: Int32)
  case timedOut(waitingFor: String, details: String)
  case ended(waitingFor: String, details: String)

  public var description: String {
    switch self {
    case .system(let call, let errno): "\(call) failed with errno \(errno)"
    case .timedOut(let what, let details): "time is up waiting for \(what)\n\(details)"
    case .ended(let what, let details): "the process ended, waiting for \(what)\n\(details)"
    }
  }
}

internal import CUV

/// Tells when another process is gone, such as the editor that started this one.
public final class ProcessWatcher {
  private let timer: Timer

  /// Asks at this interval; a process that is no child cannot be waited for.
  public static let defaultInterval: Duration = .seconds(1)

  /// - Parameter onGone: called once. It is also called, at the first interval, for an id that no process has.
  public init(
    on loop: Loop, processId: Int, interval: Duration = defaultInterval, onGone: @escaping () -> Void
  ) throws(UVError) {
    timer = try Timer(on: loop)
    timer.onFire = { [unowned timer] in
      guard !Self.isAlive(processId) else { return }
      timer.close()
      onGone()
    }
    timer.start(after: interval, repeating: interval)
  }

  public func close() { timer.close() }

  /// Whether a process has this id. 0 and below are no process's id.
  public static func isAlive(_ processId: Int) -> Bool {
    guard let id = Int32(exactly: processId), id > 0 else { return false }
    let status = uv_kill(id, 0)
    // A process that we may not signal exists.
    return status == 0 || status == UV_EPERM.rawValue
  }
}

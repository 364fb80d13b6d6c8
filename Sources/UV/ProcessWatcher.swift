internal import CUV

/// Reports when another process is gone, such as the editor that started this one.
public final class ProcessWatcher {
  private let timer: Timer

  /// The interval of the checks; a process that is not a child cannot be waited for.
  public static let defaultInterval: Duration = .seconds(1)

  /// - Parameter onGone: called once, when two checks in a row have found no process with the id. What the process has
  ///   written into a pipe of this one is read between them, even if this one was halted when the other ended.
  public init(
    on loop: Loop, processId: Int, interval: Duration = defaultInterval, onGone: @escaping () -> Void
  ) throws(UVError) {
    timer = try Timer(on: loop)
    var wasMissing = false
    timer.onFire = { [unowned timer] in
      guard !Self.isAlive(processId) else { return wasMissing = false }
      guard wasMissing else { return wasMissing = true }
      timer.close()
      onGone()
    }
    timer.start(after: interval, repeating: interval)
  }

  public func close() { timer.close() }

  /// Whether a process has this id. No process has an id of 0 or less.
  public static func isAlive(_ processId: Int) -> Bool {
    guard let id = Int32(exactly: processId), id > 0 else { return false }
    let status = uv_kill(id, 0)
    // A process that we may not signal exists.
    return status == 0 || status == UV_EPERM.rawValue
  }
}

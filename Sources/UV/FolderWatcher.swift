internal import CUV

/// Calls back on the loop when something in a folder is made, written, renamed or removed. Does not watch its
/// subfolders.
public final class FolderWatcher: Handle {
  /// Called with the name of the changed file; nil if it is unknown, or events were lost.
  public var onChange: ((String?) -> Void)?

  public init(on loop: Loop, folder: String, _ onChange: @escaping (String?) -> Void) throws(UVError) {
    self.onChange = onChange
    try super.init(on: loop, type: UV_FS_EVENT) { memory in
      uv_fs_event_init(loop.raw, memory.assumingMemoryBound(to: uv_fs_event_t.self))
    }
    let status = uv_fs_event_start(
      raw(uv_fs_event_t.self),
      { raw, name, _, status in
        guard let watcher = FolderWatcher.of(raw) else { return }
        let name = status < 0 ? nil : name.flatMap { String(validatingCString: $0) }
        watcher.loop.entered { watcher.onChange?(name) }
      }, folder, 0)
    if status < 0 {
      close()
      throw UVError(rawValue: status)
    }
  }

  override func dropCallbacks() {
    super.dropCallbacks()
    onChange = nil
  }
}

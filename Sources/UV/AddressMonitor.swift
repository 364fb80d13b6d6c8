internal import CUV

/// Reports that this machine's network interfaces, their addresses, or its routes may have changed.
///
/// Close it when it is no longer needed; it stays open until then.
public final class AddressMonitor {
  private let descriptor: Int32
  private let watcher: DescriptorWatcher
  private var isOpen = true

  /// Nil if the system does not report changes; then check regularly.
  ///
  /// - Parameter onChange: called on the loop, often several times for one change.
  public init?(on loop: Loop, _ onChange: @escaping () -> Void) {
    descriptor = notes_open_address_monitor()
    guard descriptor >= 0 else { return nil }
    guard let watcher = try? DescriptorWatcher(on: loop, descriptor: descriptor) else {
      notes_close(descriptor)
      return nil
    }
    self.watcher = watcher
    let descriptor = descriptor
    watcher.onEvents = { _, _ in
      // The content of the messages does not matter, since changes are looked up; they only have to be read.
      notes_drain(descriptor)
      onChange()
    }
    do {
      try watcher.watch(.readable)
    } catch {
      close()
      return nil
    }
  }

  public func close() {
    guard isOpen else { return }
    isOpen = false
    watcher.onClose = nil
    watcher.close()
    notes_close(descriptor)
  }
}

internal import CUV

/// Tells that this machine's network interfaces, their addresses, or its routes may have changed.
///
/// Close it when it is no longer needed: it is open until then.
public final class AddressMonitor {
  private let descriptor: Int32
  private let watcher: DescriptorWatcher
  private var isOpen = true

  /// Nil where the system does not tell; then one has to look now and then.
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
      // What exactly has changed is looked up; the messages only have to go.
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

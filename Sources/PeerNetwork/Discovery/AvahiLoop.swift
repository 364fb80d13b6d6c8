internal import CAvahi
import UV

/// The event loop as avahi wants it: watches on descriptors and timeouts.
///
/// Avahi's `AvahiWatch` and `AvahiTimeout` are the objects below, retained until avahi frees them.
final class AvahiLoop {
  /// Valid for as long as this object lives; avahi keeps a pointer to it.
  let api: UnsafeMutablePointer<AvahiPoll>
  fileprivate let loop: Loop

  init(_ loop: Loop) {
    self.loop = loop
    api = .allocate(capacity: 1)
    api.initialize(
      to: AvahiPoll(
        userdata: Unmanaged.passUnretained(self).toOpaque(),
        watch_new: { api, descriptor, events, callback, context in
          guard let loop = AvahiLoop.of(api), let callback,
            let watch = Watch(loop, descriptor, callback, context)
          else { return nil }
          watch.update(events)
          return OpaquePointer(Unmanaged.passRetained(watch).toOpaque())
        },
        watch_update: { watch, events in AvahiLoop.object(watch, as: Watch.self)?.update(events) },
        watch_get_events: { watch in
          AvahiWatchEvent(rawValue: AvahiLoop.object(watch, as: Watch.self)?.happened ?? 0)
        },
        watch_free: { watch in
          guard let watch else { return }
          Unmanaged<Watch>.fromOpaque(UnsafeRawPointer(watch)).takeRetainedValue().free()
        },
        timeout_new: { api, time, callback, context in
          guard let loop = AvahiLoop.of(api), let callback, let timeout = Timeout(loop, callback, context) else {
            return nil
          }
          timeout.update(time)
          return OpaquePointer(Unmanaged.passRetained(timeout).toOpaque())
        },
        timeout_update: { timeout, time in AvahiLoop.object(timeout, as: Timeout.self)?.update(time) },
        timeout_free: { timeout in
          guard let timeout else { return }
          Unmanaged<Timeout>.fromOpaque(UnsafeRawPointer(timeout)).takeRetainedValue().free()
        }))
  }

  deinit {
    api.deinitialize(count: 1)
    api.deallocate()
  }

  private static func of(_ api: UnsafePointer<AvahiPoll>?) -> Loop? {
    guard let data = api?.pointee.userdata else { return nil }
    return Unmanaged<AvahiLoop>.fromOpaque(data).takeUnretainedValue().loop
  }

  private static func object<T: AnyObject>(_ pointer: OpaquePointer?, as type: T.Type) -> T? {
    pointer.map { Unmanaged<T>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
  }
}

private final class Watch {
  private let watcher: DescriptorWatcher
  /// The events that have occurred; set while avahi handles them.
  private(set) var happened: UInt32 = 0

  init?(_ loop: Loop, _ descriptor: Int32, _ callback: AvahiWatchCallback, _ context: UnsafeMutableRawPointer?) {
    guard let watcher = try? DescriptorWatcher(on: loop, descriptor: descriptor) else { return nil }
    self.watcher = watcher
    watcher.onEvents = { [unowned self] events, error in
      happened = error == nil ? 0 : AVAHI_WATCH_ERR.rawValue
      if events.contains(.readable) { happened |= AVAHI_WATCH_IN.rawValue }
      if events.contains(.writable) { happened |= AVAHI_WATCH_OUT.rawValue }
      if events.contains(.disconnected) { happened |= AVAHI_WATCH_HUP.rawValue }
      // Avahi may free this watch in its callback.
      withExtendedLifetime(self) {
        callback(
          OpaquePointer(Unmanaged.passUnretained(self).toOpaque()), descriptor, AvahiWatchEvent(rawValue: happened),
          context)
        happened = 0
      }
    }
  }

  func update(_ wanted: AvahiWatchEvent) {
    var events: DescriptorWatcher.Events = []
    if wanted.rawValue & AVAHI_WATCH_IN.rawValue != 0 { events.insert(.readable) }
    if wanted.rawValue & AVAHI_WATCH_OUT.rawValue != 0 { events.insert(.writable) }
    if wanted.rawValue & AVAHI_WATCH_HUP.rawValue != 0 { events.insert(.disconnected) }
    // A descriptor that cannot be watched has no events.
    try? watcher.watch(events)
  }

  func free() { watcher.close() }
}

private final class Timeout {
  private let timer: UV.Timer

  init?(_ loop: Loop, _ callback: AvahiTimeoutCallback, _ context: UnsafeMutableRawPointer?) {
    guard let timer = try? UV.Timer(on: loop) else { return nil }
    self.timer = timer
    timer.onFire = { [unowned self] in
      // Avahi may free this timeout in its callback.
      withExtendedLifetime(self) {
        callback(OpaquePointer(Unmanaged.passUnretained(self).toOpaque()), context)
      }
    }
  }

  /// - Parameter time: when, by the wall clock; nil for never.
  func update(_ time: UnsafePointer<timeval>?) {
    guard let time = time?.pointee else { return timer.stop() }
    var now = timeval()
    gettimeofday(&now, nil)
    let microseconds = (time.tv_sec &- now.tv_sec).multipliedReportingOverflow(by: 1_000_000)
    let delay = microseconds.overflow ? 0 : microseconds.partialValue &+ (time.tv_usec &- now.tv_usec)
    timer.start(after: .microseconds(max(0, delay)))
  }

  func free() { timer.close() }
}

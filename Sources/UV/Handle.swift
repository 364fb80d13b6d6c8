internal import CUV

/// Something that libuv watches: a stream, a timer, a signal.
///
///     open ──close──► closing ──onClose──► closed
///
/// Handles belong to the loop's thread. An open handle retains itself, and so its callbacks and everything they hold,
/// until `close`. After `close` every method does nothing or throws, `onClose` is the last callback, and then all
/// callbacks are released. Closing inside any callback is allowed.
public class Handle {
  private enum State {
    case open
    case closing(UVError?)
    case closed
  }

  public let loop: Loop

  /// Called once, with the error that closed the handle; nil if it was closed without one.
  public var onClose: ((UVError?) -> Void)?

  private var state = State.open

  /// libuv's structure. Allocated in `init` and freed in the close callback, nowhere else, because libuv may use it
  /// until then. Its `data` retains this object for as long.
  private let memory: UnsafeMutableRawPointer

  init(
    on loop: Loop, type: uv_handle_type, initialize: (UnsafeMutableRawPointer) -> Int32
  ) throws(UVError) {
    loop.preconditionOnLoop()
    self.loop = loop
    memory = .allocate(byteCount: uv_handle_size(type), alignment: 16)
    let status = initialize(memory)
    guard status == 0 else {
      memory.deallocate()
      throw UVError(rawValue: status)
    }
    raw(uv_handle_t.self).pointee.data = Unmanaged.passRetained(self).toOpaque()
  }

  public var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  /// The structure as one of the types that it begins with. Not to be used once the handle is closed.
  func raw<T>(_ type: T.Type) -> UnsafeMutablePointer<T> { memory.assumingMemoryBound(to: type) }

  /// The handle that a structure given to a callback belongs to.
  static func of<T>(_ raw: UnsafeMutablePointer<T>?) -> Self? {
    guard let raw, let data = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self).pointee.data
    else { return nil }
    return unsafeDowncast(Unmanaged<Handle>.fromOpaque(data).takeUnretainedValue(), to: Self.self)
  }

  /// Closes the handle; later calls do nothing. `onClose` follows soon, never inside this call.
  public func close(_ reason: UVError? = nil) {
    loop.preconditionOnLoop()
    guard isOpen else { return }
    state = .closing(reason)
    uv_close(raw(uv_handle_t.self)) { raw in
      guard let raw, let data = raw.pointee.data else { return }
      let handle = Unmanaged<Handle>.fromOpaque(data).takeRetainedValue()
      handle.loop.entered { handle.didClose() }
    }
  }

  private func didClose() {
    guard case .closing(let reason) = state else { return }
    state = .closed
    memory.deallocate()
    let report = onClose
    dropCallbacks()
    report?(reason)
  }

  /// Releases all callbacks, and so everything that they hold.
  func dropCallbacks() {
    onClose = nil
  }
}

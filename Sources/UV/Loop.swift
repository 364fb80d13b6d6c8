internal import CUV
import Synchronization

/// The event loop: one thread that owns all handles, and the executor of the actors that live with them.
///
/// Jobs of Swift's concurrency and libuv's callbacks run on the same thread, so an actor whose executor is the loop may
/// be entered from a callback with `assumeIsolated`. Create handles on the loop's thread: before `run` that is the thread
/// that made the loop.
///
///     let loop = try Loop()
///     let timer = try Timer(on: loop) { loop.stop() }
///     timer.start(after: .seconds(1))
///     loop.run()
///
/// An actor does not keep its executor alive: a loop that serves as one must live as long as the actor does.
public final class Loop: @unchecked Sendable {
  // Unchecked: `work` and `threadBits` are synchronised, and everything else is used only on the loop's thread.

  enum Work {
    case job(UnownedJob)
    case call(@Sendable () -> Void)
  }

  /// Freed in `deinit`, which no open handle outlives: every handle holds its loop.
  let raw: UnsafeMutablePointer<uv_loop_t>
  private let wake: UnsafeMutablePointer<uv_async_t>
  private let threadBits: Atomic<UInt>

  let work = Mutex<[Work]>([])
  private var batch: [Work] = []
  /// How many callbacks are on the stack.
  private var depth = 0

  /// The buffer that streams read into. One is enough: libuv asks for it right before each read, and the bytes are used
  /// in the callback that follows.
  let readBuffer: UnsafeMutableRawBufferPointer

  /// Work that keeps making new work gets this many rounds before sockets and timers have their turn.
  private static let drainRounds = 16
  /// Rounds that take this long end, too.
  private static let drainNanoseconds: UInt64 = 4_000_000

  /// Makes a loop, and prepares the process for one: writing to a closed pipe becomes an error instead of a signal, and
  /// missing standard descriptors become `/dev/null`, so that no socket gets the number of standard output.
  public init() throws(UVError) {
    Self.prepareProcess()
    let raw = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let wake = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    // Before the properties are set, because a later throw in the initializer runs `deinit` too.
    do throws(UVError) {
      try UVError.check(uv_loop_init(raw))
      do throws(UVError) {
        try UVError.check(
          uv_async_init(raw, wake) { wake in
            guard let wake else { return }
            Loop.of(wake.pointee.loop)?.entered {}
          })
      } catch {
        uv_loop_close(raw)
        throw error
      }
    } catch {
      raw.deallocate()
      wake.deallocate()
      throw error
    }
    (self.raw, self.wake) = (raw, wake)
    threadBits = Atomic(Self.currentThreadBits)
    readBuffer = .allocate(byteCount: 64 << 10, alignment: 16)
    raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    wake.pointee.data = nil
  }

  deinit {
    // No handle is open, because it would hold the loop; closing the wake-up needs one more turn.
    uv_close(UnsafeMutableRawPointer(wake).assumingMemoryBound(to: uv_handle_t.self), nil)
    uv_run(raw, UV_RUN_DEFAULT)
    uv_loop_close(raw)
    raw.deallocate()
    wake.deallocate()
    readBuffer.deallocate()
  }

  /// Runs callbacks and jobs on the calling thread, which becomes the loop's, until `stop`.
  public func run() {
    threadBits.store(Self.currentThreadBits, ordering: .sequentiallyConsistent)
    entered {}
    uv_run(raw, UV_RUN_DEFAULT)
  }

  /// Makes `run` return after the current callback. From any thread.
  public func stop() {
    post { [self] in uv_stop(raw) }
  }

  /// Closes every handle that is open or is opened meanwhile, and waits for their `onClose`. Call it after `run`, on
  /// the same thread.
  public func closeHandles() {
    preconditionOnLoop()
    // Without the reference of the wake-up, the loop returns once nothing is left to do.
    let wakeHandle = UnsafeMutableRawPointer(wake).assumingMemoryBound(to: uv_handle_t.self)
    uv_unref(wakeHandle)
    repeat {
      entered {}
      uv_walk(raw, { handle, _ in Handle.of(handle)?.close(.cancelled) }, nil)
    } while uv_run(raw, UV_RUN_ONCE) != 0
    uv_ref(wakeHandle)
  }

  /// Runs the loop on a new thread until `stop`, then closes its handles. The thread holds the loop.
  public func runOnNewThread() throws(UVError) {
    var thread = uv_thread_t()
    let retained = Unmanaged.passRetained(self)
    // The calling thread gives the loop up now, and not only when the other one has begun to run.
    let before = threadBits.exchange(0, ordering: .sequentiallyConsistent)
    let status = uv_thread_create(
      &thread,
      { argument in
        guard let argument else { return }
        let loop = Unmanaged<Loop>.fromOpaque(argument).takeRetainedValue()
        loop.run()
        loop.closeHandles()
      }, retained.toOpaque())
    guard status == 0 else {
      threadBits.store(before, ordering: .sequentiallyConsistent)
      retained.release()
      throw UVError(rawValue: status)
    }
    notes_thread_detach(thread)
  }

  /// Runs `body` on the loop's thread, after everything posted before. Call it from any thread.
  public func post(_ body: @escaping @Sendable () -> Void) {
    add(.call(body))
  }

  /// Runs `body` after the current callback. On the loop's thread only.
  public func later(_ body: @escaping () -> Void) {
    preconditionOnLoop()
    nonisolated(unsafe) let body = body
    post { body() }
  }

  /// Whether the calling thread is the loop's.
  public var isOnLoop: Bool { threadBits.load(ordering: .relaxed) == Self.currentThreadBits }

  public func preconditionOnLoop() {
    precondition(isOnLoop, "not on the loop's thread")
  }

  func add(_ item: Work) {
    let wasEmpty = work.withLock { work in
      work.append(item)
      return work.count == 1
    }
    // Inside a callback, the work queue is emptied at its end; a wake-up would only cost a system call.
    if wasEmpty, !(isOnLoop && depth > 0) { uv_async_send(wake) }
  }

  /// Every libuv callback does its work in here. Jobs that it makes ready run at its end, without a trip through the
  /// kernel.
  @inline(__always)
  func entered(_ body: () -> Void) {
    depth += 1
    body()
    if depth == 1 { drain() }
    depth -= 1
  }

  private func drain() {
    var start: UInt64?
    for _ in 0..<Self.drainRounds {
      work.withLock { swap(&$0, &batch) }
      if batch.isEmpty { return }
      let begin = start ?? uv_hrtime()
      start = begin
      for item in batch {
        switch item {
        case .job(let job): run(job)
        case .call(let body): body()
        }
      }
      batch.removeAll(keepingCapacity: true)
      if uv_hrtime() - begin > Self.drainNanoseconds { break }
    }
    uv_async_send(wake)
  }

  static func of(_ raw: UnsafeMutablePointer<uv_loop_t>?) -> Loop? {
    guard let data = raw?.pointee.data else { return nil }
    return Unmanaged<Loop>.fromOpaque(data).takeUnretainedValue()
  }

  private static var currentThreadBits: UInt { notes_thread_bits() }

  private static func prepareProcess() {
    notes_ignore_signal(SIGPIPE)
    // A file beyond its size limit is then a write error, like a full disk, and does not end the process.
    notes_ignore_signal(SIGXFSZ)
    notes_return_freed_memory()
    for descriptor: Int32 in 0...2 where notes_is_open(descriptor) == 0 { _ = notes_open_null() }
  }
}

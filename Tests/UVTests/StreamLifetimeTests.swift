import TestSupport
import Testing
import UV

/// Streams that are closed, dropped or broken at every inconvenient moment.
struct StreamLifetimeTests {
  enum Moment: CaseIterable { case accepting, reading, ending, draining, closing }

  @Test(arguments: Moment.allCases)
  func closingInsideACallbackIsSafe(moment: Moment) throws {
    let directory = try TemporaryDirectory()
    try runLoop { loop in
      let closed = Box(0)
      let didClose = { (_: UVError?) in
        closed.value += 1
        if closed.value == 2 { loop.stop() }
      }
      _ = try UnixListener(on: loop, path: directory.file("s")) { stream in
        stream.onClose = didClose
        if moment == .accepting { return stream.close() }
        stream.onRead = { _ in
          if moment == .reading {
            stream.close()
            stream.onRead = nil
            stream.resumeReading()
          }
        }
        stream.onEnd = { stream.close() }
        stream.resumeReading()
      }
      PipeStream.connect(on: loop, path: directory.file("s")) { result in
        guard let stream = try? result.get() else { return loop.stop() }
        stream.onClose = { reason in
          stream.close()
          didClose(reason)
        }
        stream.onEnd = { stream.close() }
        stream.onDrain = {
          if moment == .draining { stream.close() } else { stream.shutdownThenClose() }
        }
        stream.resumeReading()
        let block = pattern(byteCount: 2 << 20)
        try? stream.write(block)
        switch moment {
        case .ending: stream.shutdownThenClose()
        case .closing: stream.close()
        case .accepting, .reading, .draining: break
        }
      }
    }
  }

  @Test func writesThatWaitAreLetGoWhenTheStreamCloses() throws {
    let directory = try TemporaryDirectory()
    try runLoop { loop in
      _ = try UnixListener(on: loop, path: directory.file("s")) { _ in }
      PipeStream.connect(on: loop, path: directory.file("s")) { result in
        guard let stream = try? result.get() else { return loop.stop() }
        for _ in 0..<50 { try? stream.write(pattern(byteCount: 100_000)) }
        #expect(stream.queuedByteCount > 0)
        stream.onDrain = { Issue.record("drained") }
        stream.onClose = { _ in
          #expect(stream.queuedByteCount == 0)
          loop.stop()
        }
        stream.close()
        #expect(throws: WriteError.closed) { try stream.write([1]) }
      }
    }
  }

  @Test func aPeerThatIsGoneIsAnErrorAndNoSignal() throws {
    let directory = try TemporaryDirectory()
    try runLoop { loop in
      _ = try UnixListener(on: loop, path: directory.file("s")) { $0.close() }
      PipeStream.connect(on: loop, path: directory.file("s")) { result in
        guard let stream = try? result.get() else { return loop.stop() }
        stream.onClose = { reason in
          #expect(reason == .brokenPipe || reason == .connectionReset)
          loop.stop()
        }
        let timer = try? Timer(on: loop)
        timer?.onFire = { try? stream.write([1, 2, 3]) }
        timer?.start(after: .zero, repeating: .milliseconds(1))
      }
    }
  }

  @Test func callbacksAreLetGoAfterClosing() throws {
    final class Witness {}
    let directory = try TemporaryDirectory()
    weak var seen: Witness?
    try runLoop { loop in
      _ = try UnixListener(on: loop, path: directory.file("s")) { $0.close() }
      PipeStream.connect(on: loop, path: directory.file("s")) { result in
        guard let stream = try? result.get() else { return loop.stop() }
        let witness = Witness()
        seen = witness
        stream.onRead = { _ in _ = (witness, stream) }
        stream.onEnd = {
          _ = witness
          stream.close()
        }
        stream.onClose = { _ in
          _ = witness
          loop.later { loop.stop() }
        }
        stream.resumeReading()
      }
    }
    #expect(seen == nil)
  }

  @Test func streamsWithoutReferencesGoOn() throws {
    let directory = try TemporaryDirectory()
    try runLoop { loop in
      _ = try UnixListener(on: loop, path: directory.file("s")) { stream in
        stream.onRead = { [unowned stream] in try? stream.write(Array($0)) }
        stream.resumeReading()
      }
      PipeStream.connect(on: loop, path: directory.file("s")) { result in
        guard let stream = try? result.get() else { return loop.stop() }
        stream.onRead = { _ in loop.stop() }
        stream.resumeReading()
        try? stream.write([1])
      }
    }
  }

  @Test func unixSocketsRefuseWhatTheKernelWouldCut() throws {
    let loop = try Loop()
    let directory = try TemporaryDirectory()
    let longest =
      directory.path + "/"
      + String(repeating: "x", count: UnixSocketPath.maximumByteCount - directory.path.utf8.count - 1)
    let listener = try UnixListener(on: loop, path: longest) { _ in }
    #expect(listener.isOpen)
    #expect(throws: UVError.addressInUse) { try UnixListener(on: loop, path: longest) { _ in } }
    #expect(throws: UVError.nameTooLong) { try UnixListener(on: loop, path: longest + "x") { _ in } }
    #expect(throws: UVError.invalidArgument) { try UnixListener(on: loop, path: "") { _ in } }
    #expect(throws: UVError.invalidArgument) { try UnixListener(on: loop, path: "/tmp/a\0b") { _ in } }
    loop.closeHandles()
    // Closing has removed the file.
    let again = try UnixListener(on: loop, path: longest) { _ in }
    #expect(again.isOpen)
    loop.closeHandles()
  }

  @Test func connectingToNoSocketIsAnError() throws {
    let directory = try TemporaryDirectory()
    try runLoop { loop in
      let errors = Box<[UVError]>([])
      for path in [directory.file("none"), "/tmp/" + String(repeating: "x", count: 200)] {
        PipeStream.connect(on: loop, path: path) { result in
          if case .failure(let error) = result { errors.value.append(error) }
          if errors.value.count == 2 {
            #expect(Set(errors.value) == [.noSuchFile, .nameTooLong])
            loop.stop()
          }
        }
      }
    }
  }
}

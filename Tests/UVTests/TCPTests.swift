import Testing
import UV

struct TCPTests {
  /// Connects to a listener that hands its side to `accepted`.
  private func pair(
    _ loop: Loop, accepted: @escaping (TCPStream) -> Void, connected: @escaping (TCPStream) -> Void
  ) throws {
    let listener = try TCPListener(on: loop, host: "127.0.0.1", port: 0, accepted)
    let port = try #require(listener.address?.port)
    TCPStream.connect(on: loop, host: "127.0.0.1", port: port) { result in
      switch result {
      case .success(let stream): connected(stream)
      case .failure(let error): Issue.record("\(error)")
      }
    }
  }

  @Test func tenMegabytesPassASlowReaderWhole() throws {
    let sent = pattern(byteCount: 10 << 20)
    try runLoop { loop in
      let received = Box<[UInt8]>([])
      let highestQueue = Box(0)
      let drains = Box(0)
      try pair(loop) { echo in
        echo.onRead = { bytes in
          try? echo.write(Array(bytes))
          highestQueue.value = max(highestQueue.value, echo.queuedByteCount)
          // Reading on only when what was read is gone bounds the memory.
          if echo.queuedByteCount > 1 << 20 { echo.pauseReading() }
        }
        echo.onDrain = {
          drains.value += 1
          echo.resumeReading()
        }
        echo.onEnd = { echo.shutdownThenClose() }
        echo.resumeReading()
      } connected: { stream in
        stream.onRead = { bytes in
          received.value.append(contentsOf: bytes)
          stream.pauseReading()
          if received.value.count == sent.count { return loop.stop() }
          // The slow reader: a little at a time.
          _ = try? loop.after(.zero) { stream.resumeReading() }
        }
        stream.resumeReading()
        for start in stride(from: 0, to: sent.count, by: 100_000) {
          try? stream.write(Array(sent[start..<min(start + 100_000, sent.count)]))
        }
        #expect(stream.queuedByteCount > 0)
      }
      let check = try Timer(on: loop)
      check.onClose = { _ in
        #expect(received.value == sent)
        #expect(drains.value > 0)
        #expect(highestQueue.value > 0 && highestQueue.value < 3 << 20)
      }
    }
  }

  @Test func smallMessagesGoBackAndForth() throws {
    try runLoop { loop in
      let count = Box(0)
      try pair(loop) { echo in
        echo.onRead = { try? echo.write(Array($0)) }
        echo.resumeReading()
      } connected: { stream in
        stream.onRead = { bytes in
          #expect(bytes.elementsEqual([1, 2, 3]))
          count.value += 1
          if count.value == 2_000 { loop.stop() } else { try? stream.write([1, 2, 3]) }
        }
        stream.resumeReading()
        try? stream.write([1, 2, 3])
      }
    }
  }

  @Test func addressesAreKnownOnBothSides() throws {
    try runLoop { loop in
      let peer = Box<SocketAddress?>(nil)
      try pair(loop) { accepted in
        #expect(accepted.peerAddress?.isLoopback == true)
        #expect(accepted.peerAddress == peer.value || peer.value == nil)
        accepted.close()
      } connected: { stream in
        peer.value = stream.localAddress
        #expect(stream.peerAddress?.host == "127.0.0.1")
        #expect(stream.localAddress?.description.hasPrefix("127.0.0.1:") == true)
        stream.onEnd = {
          stream.close()
          #expect(stream.peerAddress == nil && stream.localAddress == nil)
          loop.stop()
        }
        stream.resumeReading()
      }
    }
  }

  @Test func shuttingDownSendsEverythingFirst() throws {
    let sent = pattern(byteCount: 3 << 20)
    try runLoop { loop in
      let received = Box<[UInt8]>([])
      try pair(loop) { accepted in
        try? accepted.write(sent)
        accepted.shutdownThenClose()
        #expect(throws: WriteError.closed) { try accepted.write([1]) }
      } connected: { stream in
        stream.onRead = { received.value.append(contentsOf: $0) }
        stream.onEnd = {
          #expect(received.value == sent)
          stream.close()
          loop.stop()
        }
        stream.resumeReading()
      }
    }
  }

  @Test func shuttingDownDoesNotWaitForeverForAReaderThatDoesNotRead() throws {
    try runLoop { loop in
      try pair(loop) { accepted in
        try? accepted.write(pattern(byteCount: 20 << 20))
        accepted.onClose = { reason in
          #expect(reason == .timedOut)
          loop.stop()
        }
        accepted.shutdownThenClose(within: .milliseconds(20))
      } connected: { _ in
      }
    }
  }

  /// For two seconds, in which the kernel asks several times whether there is room. On a busy machine it may send something a second
  /// time, but the answer comes.
  @Test func aReaderThatDoesNotReadIsStillThere() throws {
    try runLoop { loop in
      var answeredCount = 0
      try pair(loop) { _ in
      } connected: { stream in
        #expect(throws: Never.self) { try stream.write(pattern(byteCount: 8 << 20)) }
        func look() {
          if stream.retransmissionCount ?? 0 == 0 { answeredCount += 1 }
          #expect(stream.unacknowledgedByteCount ?? 1 > 0, "there is no room for all of it")
          guard answeredCount < 20 else { return loop.stop() }
          #expect(throws: Never.self) { try loop.after(.milliseconds(100)) { look() } }
        }
        look()
      }
    }
  }

  @Test func aFullQueueRefusesMore() throws {
    try runLoop { loop in
      try pair(loop) { _ in
      } connected: { stream in
        stream.queueLimit = 1_000_000
        let block = [UInt8](repeating: 7, count: 400_000)
        var refusal: WriteError?
        for _ in 0..<1_000 where refusal == nil {
          do throws(WriteError) { try stream.write(block) } catch { refusal = error }
        }
        guard case .queueFull(let queued, 1_000_000) = refusal else {
          Issue.record("\(String(describing: refusal))")
          return loop.stop()
        }
        #expect(queued <= 1_000_000 && queued == stream.queuedByteCount)
        #expect(stream.isOpen)
        loop.stop()
      }
    }
  }

  @Test func aPortWithoutListenerIsATypedError() throws {
    try runLoop { loop in
      // Port 1 is out of the range that the system hands out, so no other test can be listening there.
      TCPStream.connect(on: loop, host: "127.0.0.1", port: 1) { result in
        guard case .failure(.unreachable("127.0.0.1", 1, .connectionRefused)) = result else {
          Issue.record("\(result)")
          return loop.stop()
        }
        loop.stop()
      }
    }
  }

  @Test(arguments: ["", "no such host", "a\0b", "host.invalid"])
  func aNameWithoutAnAddressIsATypedError(name: String) throws {
    try runLoop { loop in
      TCPStream.connect(on: loop, host: name, port: 1) { result in
        guard case .failure(.unresolved(name, _)) = result else {
          Issue.record("\(result)")
          return loop.stop()
        }
        loop.stop()
      }
    }
  }

  @Test func namesAreResolved() throws {
    try runLoop { loop in
      let listener = try TCPListener(on: loop, host: "127.0.0.1", port: 0) { $0.close() }
      let port = try #require(listener.address?.port)
      TCPStream.connect(on: loop, host: "localhost", port: port) { result in
        #expect(throws: Never.self) { try result.get() }
        loop.stop()
      }
    }
  }

  @Test func anAttemptCanBeCancelledOrTimesOut() throws {
    let deaf = try DeafListener()
    try runLoop { loop in
      let outcomes = Box<[ConnectError]>([])
      let note = { (result: Result<TCPStream, ConnectError>) in
        guard case .failure(let error) = result else {
          Issue.record("connected")
          return loop.stop()
        }
        outcomes.value.append(error)
        if outcomes.value.count == 3 {
          #expect(outcomes.value == [.cancelled, .cancelled, .timedOut(host: "127.0.0.1", port: deaf.port)])
          loop.stop()
        }
      }
      TCPStream.connect(on: loop, host: "127.0.0.1", port: deaf.port) { first in
        // There is room for one that is not accepted; the next gets no answer.
        #expect(throws: Never.self) { try first.get() }
        TCPStream.connect(on: loop, host: "127.0.0.1", port: deaf.port, done: note).cancel()
        TCPStream.connect(on: loop, host: "localhost", port: deaf.port, done: note).cancel()
        TCPStream.connect(on: loop, host: "127.0.0.1", port: deaf.port, timeout: .milliseconds(20), done: note)
      }
    }
  }

  @Test func anAnswerThatCameWhileTheLoopWasHeldUpCountsAfterTheDeadlineToo() throws {
    try runLoop { loop in
      let listener = try TCPListener(on: loop, host: "127.0.0.1", port: 0) { _ in }
      let port = try #require(listener.address?.port)
      TCPStream.connect(on: loop, host: "127.0.0.1", port: port, timeout: .milliseconds(5)) { result in
        #expect(throws: Never.self) { try result.get() }
        loop.stop()
      }
      let until = MonotonicTime.now + .milliseconds(20)
      while MonotonicTime.now < until {}
    }
  }

  @Test func aTakenPortAndANameAreRefusedByTheListener() throws {
    let loop = try Loop()
    let listener = try TCPListener(on: loop, host: "127.0.0.1", port: 0) { _ in }
    let port = try #require(listener.address?.port)
    #expect(port != 0)
    #expect(throws: UVError.addressInUse) { try TCPListener(on: loop, host: "127.0.0.1", port: port) { _ in } }
    #expect(throws: UVError.invalidArgument) { try TCPListener(on: loop, host: "localhost", port: 0) { _ in } }
    loop.closeHandles()
    #expect(listener.address == nil)
  }
}

import Foundation
import TestSupport
import Testing
import UV

/// Standard input and output of every kind, over descriptors of our own.
struct StandardStreamTests {
  enum Kind: CaseIterable { case pipe, socket, terminal, file, emptyFile, null }

  private static func pair(_ make: (UnsafeMutablePointer<Int32>) -> Int32) throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(make(&ends) == 0)
    return (ends[0], ends[1])
  }

  private static func openTerminal() throws -> (Int32, Int32) {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var mode = termios()
    cfmakeraw(&mode)
    try #require(openpty(&master, &slave, nil, &mode, nil) == 0)
    return (slave, master)
  }

  private static func send(_ bytes: [UInt8], to descriptor: Int32) {
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  @Test(arguments: Kind.allCases)
  func everyKindOfInputIsReadToItsEnd(kind: Kind) throws {
    let directory = try TemporaryDirectory()
    // What a pipe holds at once; a file may be larger than one read.
    var expected = pattern(byteCount: kind == .file ? 300_000 : 4_000)
    var input: Int32
    var other: Int32 = -1
    switch kind {
    case .pipe: (input, other) = try Self.pair { Foundation.pipe($0) }
    case .socket: (input, other) = try Self.pair { socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, $0) }
    case .terminal: (input, other) = try Self.openTerminal()
    case .file, .emptyFile:
      if kind == .emptyFile { expected = [] }
      try Data(expected).write(to: URL(fileURLWithPath: directory.file("f")))
      input = open(directory.file("f"), O_RDONLY)
    case .null:
      expected = []
      input = open("/dev/null", O_RDONLY)
    }
    if other >= 0 { Self.send(expected, to: other) }
    try runLoop { loop in
      let received = Box<[UInt8]>([])
      let standardInput = try StandardInput(on: loop, fileDescriptor: input)
      standardInput.onRead = { bytes in
        received.value.append(contentsOf: bytes)
        // A pause in the middle loses nothing.
        standardInput.pauseReading()
        loop.later { standardInput.resumeReading() }
        if other >= 0, received.value.count == expected.count { close(other) }
      }
      standardInput.onEnd = {
        #expect(received.value == expected)
        standardInput.close()
      }
      standardInput.onClose = { reason in
        // A terminal that hangs up says so with an error.
        #expect(reason == nil || kind == .terminal)
        #expect(received.value == expected)
        loop.stop()
      }
      standardInput.resumeReading()
    }
  }

  @Test(arguments: Kind.allCases)
  func everyKindOfOutputGetsEverythingInOrder(kind: Kind) throws {
    let directory = try TemporaryDirectory()
    let blocks = (0..<100).map { number in [UInt8](repeating: UInt8(number), count: number * 5) }
    var output: Int32
    var other: Int32 = -1
    switch kind {
    case .pipe: (other, output) = try Self.pair { Foundation.pipe($0) }
    case .socket: (output, other) = try Self.pair { socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, $0) }
    case .terminal: (output, other) = try Self.openTerminal()
    case .file, .emptyFile: output = open(directory.file("f"), O_RDWR | O_CREAT, 0o600)
    case .null: output = open("/dev/null", O_WRONLY)
    }
    try runLoop { loop in
      let received = Box<[UInt8]>([])
      let standardOutput = try StandardOutput(on: loop, fileDescriptor: output)
      let expected = blocks.flatMap { $0 }
      if other >= 0 {
        let reader = try StandardInput(on: loop, fileDescriptor: other)
        reader.onRead = { bytes in
          received.value.append(contentsOf: bytes)
          if received.value.count == expected.count {
            #expect(received.value == expected)
            loop.stop()
          }
        }
        reader.resumeReading()
      }
      for block in blocks { try standardOutput.write(block) }
      guard other < 0 else { return }
      standardOutput.onClose = { reason in
        #expect(reason == nil)
        if kind == .file {
          #expect((try? Data(contentsOf: URL(fileURLWithPath: directory.file("f")))).map(Array.init) == expected)
        }
        loop.stop()
      }
      standardOutput.shutdownThenClose()
      #expect(throws: WriteError.closed) { try standardOutput.write([1]) }
    }
  }

  @Test func aReaderThatIsGoneClosesTheOutput() throws {
    let (reader, writer) = try Self.pair { Foundation.pipe($0) }
    close(reader)
    try runLoop { loop in
      let output = try StandardOutput(on: loop, fileDescriptor: writer)
      output.onClose = { reason in
        #expect(reason == .brokenPipe)
        loop.stop()
      }
      #expect(throws: WriteError.failed(.brokenPipe)) { try output.write([1]) }
      #expect(throws: WriteError.closed) { try output.write([1]) }
    }
  }

  @Test func aFullDiskClosesTheOutput() throws {
    let full = open("/dev/full", O_WRONLY)
    try runLoop { loop in
      let output = try StandardOutput(on: loop, fileDescriptor: full)
      output.onClose = { reason in
        #expect(reason?.name == "ENOSPC")
        loop.stop()
      }
      try output.write([1])
    }
  }

  @Test func theQueueOfASlowReaderIsBounded() throws {
    let (reader, writer) = try Self.pair { Foundation.pipe($0) }
    defer { close(reader) }
    try runLoop { loop in
      let output = try StandardOutput(on: loop, fileDescriptor: writer, queueLimit: 500_000)
      let block = [UInt8](repeating: 1, count: 100_000)
      #expect(throws: WriteError.self) {
        for _ in 0..<100 { try output.write(block) }
      }
      #expect(output.queuedByteCount <= 500_000 && output.isOpen)
      loop.stop()
    }
  }

  @Test func whatIsNoStreamIsRefused() throws {
    let loop = try Loop()
    let directory = open("/tmp", O_RDONLY)
    #expect(throws: UVError.notSupported) { try StandardInput(on: loop, fileDescriptor: directory) }
    #expect(throws: UVError.notSupported) { try StandardInput(on: loop, fileDescriptor: 9_999) }
    #expect(throws: UVError.invalidArgument) { try PipeStream(on: loop, fileDescriptor: directory) }
    close(directory)
    loop.closeHandles()
  }
}

import Foundation

/// A child process with pipes, in a process group of its own, killed with its whole group when the last reference goes.
///
/// Nothing here blocks without a deadline, and nothing is lost: what the child writes is collected in `output` and
/// `errorOutput` whenever one of the waiting functions runs, what is written to it waits until it reads.
/// For use from one thread.
public final class ChildProcess {
  /// What the child finds as its standard input.
  public enum Input: Sendable {
    case pipe, socket, terminal, null
    case file(String)
  }

  /// How a process ended.
  public enum Exit: Equatable, Sendable {
    case code(Int32)
    case signal(Int32)
  }

  public let command: [String]
  public let processId: pid_t
  /// What the child wrote and the test has not consumed.
  public var output: [UInt8] = []
  public private(set) var errorOutput: [UInt8] = []
  public private(set) var exit: Exit?
  public var isOutputAtEnd: Bool { outputDescriptor < 0 }

  private var inputDescriptor: Int32
  private var outputDescriptor: Int32
  private var errorDescriptor: Int32
  private var unwritten: [UInt8] = []
  private var closesInputWhenWritten = false

  /// Starts a command; a name without a slash is looked up in `PATH`. `environment` is laid over this process's own.
  public init(_ command: [String], environment: [String: String] = [:], input: Input = .pipe) throws {
    self.command = command
    // A child that is gone must be an error of write(2), not the end of the tests.
    signal(SIGPIPE, SIG_IGN)
    Self.descriptorLock.lock()
    defer { Self.descriptorLock.unlock() }
    let childInput: Int32
    (childInput, inputDescriptor) = try Self.openInput(input)
    let outputPipe = try Self.makePipe()
    let errorPipe = try Self.makePipe()
    (outputDescriptor, errorDescriptor) = (outputPipe.read, errorPipe.read)
    defer { for descriptor in [childInput, outputPipe.write, errorPipe.write] { close(descriptor) } }
    processId = try Self.spawn(
      command, environment: environment, descriptors: [childInput, outputPipe.write, errorPipe.write])
    for descriptor in [inputDescriptor, outputDescriptor, errorDescriptor] where descriptor >= 0 {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    killGroup()
    if exit == nil {
      var status: Int32 = 0
      waitpid(processId, &status, 0)
    }
    for descriptor in [inputDescriptor, outputDescriptor, errorDescriptor] where descriptor >= 0 { close(descriptor) }
  }

  // MARK: Writing

  /// Hands bytes over; what the child does not read at once is written while waiting.
  public func write(_ bytes: [UInt8]) {
    unwritten += bytes
    flush()
  }

  /// Ends the child's standard input once everything is written.
  public func closeInput() {
    closesInputWhenWritten = true
    flush()
  }

  private func flush() {
    while inputDescriptor >= 0, !unwritten.isEmpty {
      let count = unwritten.withUnsafeBytes { Foundation.write(inputDescriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        unwritten.removeFirst(count)
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        unwritten.removeAll()
      }
    }
    if closesInputWhenWritten, inputDescriptor >= 0 {
      close(inputDescriptor)
      inputDescriptor = -1
    }
  }

  // MARK: Waiting

  /// Waits until one of the children has written something or ended, at the longest until the deadline.
  public static func waitForActivity(of children: [ChildProcess], until deadline: ContinuousClock.Instant) {
    var descriptors: [pollfd] = []
    var anyAtEnd = false
    for child in children {
      child.flush()
      if child.outputDescriptor >= 0 {
        descriptors.append(pollfd(fd: child.outputDescriptor, events: Int16(POLLIN), revents: 0))
      } else {
        anyAtEnd = true
      }
      if child.errorDescriptor >= 0 {
        descriptors.append(pollfd(fd: child.errorDescriptor, events: Int16(POLLIN), revents: 0))
      }
      if child.inputDescriptor >= 0, !child.unwritten.isEmpty {
        descriptors.append(pollfd(fd: child.inputDescriptor, events: Int16(POLLOUT), revents: 0))
      }
    }
    // A child whose output has ended tells nothing more by its pipes; its exit is looked at every few milliseconds.
    let milliseconds = (deadline - .now) / .milliseconds(1)
    let longest = Int32(max(0, min(anyAtEnd ? 5 : 100, milliseconds.rounded(.up))))
    poll(&descriptors, nfds_t(descriptors.count), longest)
    for child in children { child.collect() }
  }

  /// Waits until the condition holds; it is asked again after each piece of output.
  public func wait(
    for what: String, until deadline: ContinuousClock.Instant, _ condition: (ChildProcess) -> Bool
  ) throws {
    collect()
    while !condition(self) {
      if exit != nil, isOutputAtEnd { throw ProcessError.ended(waitingFor: what, details: details) }
      if ContinuousClock.now >= deadline { throw ProcessError.timedOut(waitingFor: what, details: details) }
      Self.waitForActivity(of: [self], until: deadline)
    }
  }

  /// Waits for the end of the process; what it wrote before is in `output`.
  @discardableResult
  public func waitForExit(within duration: Duration = Patience.hang) throws -> Exit {
    let deadline = ContinuousClock.now + duration
    collect()
    while true {
      if let exit { return exit }
      if ContinuousClock.now >= deadline {
        throw ProcessError.timedOut(waitingFor: "the end of \(command.first ?? "")", details: details + stacks)
      }
      Self.waitForActivity(of: [self], until: min(deadline, .now + .milliseconds(5)))
    }
  }

  /// Starts a script that may mount things, which nothing outside sees. It ends with 77 if that is not allowed, as in a chroot.
  public static func withOwnMounts(_ script: String) throws -> ChildProcess {
    try ChildProcess([
      "sh", "-c", "unshare -rm true 2>/dev/null || exit 77; exec unshare -rm sh -c \"$1\"", "sh", script,
    ])
  }

  /// Runs a command to its end and returns its exit and everything it wrote.
  public static func run(
    _ command: [String], environment: [String: String] = [:], within duration: Duration = Patience.hang
  ) throws -> (exit: Exit, output: [UInt8], errorOutput: [UInt8]) {
    let child = try ChildProcess(command, environment: environment, input: .null)
    let exit = try child.waitForExit(within: duration)
    try child.wait(for: "the rest of its output", until: .now + Patience.hang) { $0.isOutputAtEnd }
    return (exit, child.output, child.errorOutput)
  }

  /// The command, its exit and the end of its error output, for messages.
  public var details: String {
    let tail = String(decoding: errorOutput.suffix(4000), as: UTF8.self)
    return "\(command.joined(separator: " ")) (pid \(processId), exit \(exit.map { "\($0)" } ?? "none"))\n\(tail)"
  }

  /// What each thread of a process that does not end is doing: its state, and its stack if gdb is there.
  private var stacks: String {
    let command = """
      for task in /proc/\(processId)/task/*; do cat $task/comm $task/wchan; grep State $task/status; done
      gdb -p \(processId) -batch -ex 'thread apply all bt 30' 2>/dev/null
      """
    let found = try? ChildProcess.run(["/bin/sh", "-c", command], within: Patience.hang)
    return "\n" + String(decoding: found?.output.suffix(20_000) ?? [], as: UTF8.self)
  }

  /// Takes in what has been written and whether the child has ended, without waiting.
  public func collect() {
    Self.drain(&outputDescriptor, into: &output)
    Self.drain(&errorDescriptor, into: &errorOutput)
    var status: Int32 = 0
    if exit == nil, waitpid(processId, &status, WNOHANG) == processId {
      let signal = status & 0x7f
      exit = signal == 0 ? .code((status >> 8) & 0xff) : .signal(signal)
      // Its last words may have come between the reading above and its end.
      Self.drain(&outputDescriptor, into: &output)
      Self.drain(&errorDescriptor, into: &errorOutput)
    }
  }

  private static func drain(_ descriptor: inout Int32, into bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
      while descriptor >= 0 {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count > 0 {
          bytes += buffer[0..<count]
        } else if count < 0, errno == EINTR {
          continue
        } else if count < 0, errno == EAGAIN {
          return
        } else {
          close(descriptor)
          descriptor = -1
        }
      }
    }
  }

  // MARK: Signals

  /// Sends a signal to the process alone.
  public func send(signal: Int32) {
    if exit == nil { kill(processId, signal) }
  }

  /// Kills the process and all it started, as a power cut would.
  public func killGroup() {
    if exit == nil {
      kill(-processId, SIGKILL)
      kill(processId, SIGKILL)
    } else if kill(processId, 0) != 0 {
      // What is left of its group. A process with its number would be another one, with another group.
      kill(-processId, SIGKILL)
    }
  }
}

import Foundation

extension ChildProcess {
  /// Held from the making of a descriptor until it closes on exec, and while spawning: a pipe's end inherited by
  /// another test's child would keep the pipe open.
  static let descriptorLock = NSLock()

  static func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ProcessError.system(call: "pipe", errno: errno) }
    for end in ends { try closeOnExec(end) }
    return (ends[0], ends[1])
  }

  private static func closeOnExec(_ descriptor: Int32) throws {
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw ProcessError.system(call: "fcntl", errno: errno) }
  }

  /// The child's end and ours; ours is -1 where there is nothing to write to.
  static func openInput(_ input: Input) throws -> (child: Int32, ours: Int32) {
    switch input {
    case .pipe:
      let ends = try makePipe()
      return (ends.read, ends.write)
    case .socket:
      var ends: [Int32] = [-1, -1]
      #if os(Linux)
        let type = Int32(SOCK_STREAM.rawValue)
      #else
        let type = SOCK_STREAM
      #endif
      guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
        throw ProcessError.system(call: "socketpair", errno: errno)
      }
      for end in ends { try closeOnExec(end) }
      return (ends[0], ends[1])
    case .terminal:
      var (ours, child): (Int32, Int32) = (-1, -1)
      var settings = termios()
      cfmakeraw(&settings)
      guard openpty(&ours, &child, nil, &settings, nil) == 0 else {
        throw ProcessError.system(call: "openpty", errno: errno)
      }
      for end in [ours, child] { try closeOnExec(end) }
      return (child, ours)
    case .null: return (try openForReading("/dev/null"), -1)
    case .file(let path): return (try openForReading(path), -1)
    }
  }

  private static func openForReading(_ path: String) throws -> Int32 {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ProcessError.system(call: "open \(path)", errno: errno) }
    return descriptor
  }

  /// Starts the command as the leader of a new process group, with these descriptors as 0, 1 and 2.
  static func spawn(_ command: [String], environment: [String: String], descriptors: [Int32]) throws -> pid_t {
    #if os(Linux)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #else
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, descriptor) in descriptors.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    // Ignored signals outlive exec, and a child that ignores SIGPIPE is not what users start.
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    // Worker threads block signals, and a child born of one would be deaf to SIGTERM for ever.
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var processId: pid_t = 0
    let code = posix_spawnp(&processId, command.first ?? "", &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw ProcessError.system(call: "spawn \(command.first ?? "")", errno: code) }
    return processId
  }
}

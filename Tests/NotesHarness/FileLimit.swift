import TestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Limits the size of the files that a running process writes; 0 acts much like a full disk, nil removes the limit.
public func limitFiles(of process: pid_t, to size: Int?) throws {
  let script = """
    import resource, sys
    hard = resource.prlimit(int(sys.argv[1]), resource.RLIMIT_FSIZE)[1]
    resource.prlimit(int(sys.argv[1]), resource.RLIMIT_FSIZE, (int(sys.argv[2]) if len(sys.argv) > 2 else hard, hard))
    """
  let size = size.map { ["\($0)"] } ?? []
  let result = try ChildProcess.run(["python3", "-c", script, "\(process)"] + size)
  guard result.exit == .code(0) else {
    throw ProcessError.ended(
      waitingFor: "a limit of \(process)", details: String(decoding: result.errorOutput, as: UTF8.self))
  }
}

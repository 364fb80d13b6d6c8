import TestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Limits how large the files may become that a running process writes to; 0 is much like a full disk, nil as before.
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

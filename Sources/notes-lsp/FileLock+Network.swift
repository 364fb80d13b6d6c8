import PeerNetwork

extension FileLock {
  /// The lock for a store's connections to other people; nil while another process holds it.
  static func network(of home: String) -> FileLock? { FileLock(path: path(of: home)) }

  /// Whether a process has that lock.
  static func isNetworkTaken(in home: String) -> Bool { isTaken(path: path(of: home)) }

  private static func path(of home: String) -> String { home + "/net.lock" }
}

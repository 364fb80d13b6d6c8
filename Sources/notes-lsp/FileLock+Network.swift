import PeerNetwork

extension FileLock {
  /// The lock for a store's connections to other people; nil while another process holds it.
  static func network(of home: String) -> FileLock? { FileLock(path: home + "/net.lock") }
}

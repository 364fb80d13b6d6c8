import PeerNetwork

extension FileLock {
  /// The right to speak with other people for a store; nil while another process has it.
  static func network(of home: String) -> FileLock? { FileLock(path: home + "/net.lock") }
}

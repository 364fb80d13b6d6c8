internal import CUV

extension PipeStream {
  /// Whether the process at the other end of a connected unix socket runs as the same user. False if unknown.
  public var isOfThisUser: Bool {
    var descriptor: Int32 = -1
    guard isOpen, uv_fileno(raw(uv_handle_t.self), &descriptor) == 0 else { return false }
    return notes_peer_user(descriptor) == notes_own_user()
  }
}

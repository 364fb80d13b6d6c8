internal import CUV

/// A terminal as standard input or output, for a person who tries the program by hand.
final class TerminalStream: ByteStream {
  init(on loop: Loop, fileDescriptor: Int32) throws(UVError) {
    try super.init(on: loop, type: UV_TTY) { memory in
      // The last parameter has no meaning since libuv 1.23.
      uv_tty_init(loop.raw, memory.assumingMemoryBound(to: uv_tty_t.self), fileDescriptor, 0)
    }
  }
}

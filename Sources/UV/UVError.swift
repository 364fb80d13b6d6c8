internal import CUV

/// A libuv error code: a negative `errno`, or one of libuv's own.
public struct UVError: RawRepresentable, Error, Hashable, Sendable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  init(_ code: uv_errno_t) { self.init(rawValue: code.rawValue) }

  public static let addressInUse = UVError(UV_EADDRINUSE)
  public static let badDescriptor = UVError(UV_EBADF)
  public static let brokenPipe = UVError(UV_EPIPE)
  public static let cancelled = UVError(UV_ECANCELED)
  public static let connectionRefused = UVError(UV_ECONNREFUSED)
  public static let connectionReset = UVError(UV_ECONNRESET)
  public static let hostNotFound = UVError(UV_EAI_NONAME)
  public static let hostUnreachable = UVError(UV_EHOSTUNREACH)
  public static let invalidArgument = UVError(UV_EINVAL)
  public static let nameTooLong = UVError(UV_ENAMETOOLONG)
  public static let noSuchFile = UVError(UV_ENOENT)
  public static let notConnected = UVError(UV_ENOTCONN)
  public static let notSupported = UVError(UV_ENOTSUP)
  public static let timedOut = UVError(UV_ETIMEDOUT)

  /// libuv's name for the code, such as `EPIPE`.
  public var name: String { Self.text { uv_err_name_r(rawValue, $0, $1) } }

  /// libuv's description, such as `broken pipe`.
  public var message: String { Self.text { uv_strerror_r(rawValue, $0, $1) } }

  private static func text(
    _ write: (UnsafeMutablePointer<CChar>?, Int) -> UnsafeMutablePointer<CChar>?
  ) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let text = write(buffer.baseAddress, buffer.count) else { return "" }
      return String(cString: text)
    }
  }

  /// Returns a result, or throws it if it is an error.
  @discardableResult
  static func check(_ result: Int32) throws(UVError) -> Int32 {
    guard result >= 0 else { throw UVError(rawValue: result) }
    return result
  }
}

extension UVError: CustomStringConvertible {
  public var description: String { "\(name): \(message)" }
}

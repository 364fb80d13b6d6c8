extension Loop {
  private static let started = Result { () throws(UVError) -> Loop in
    let loop = try Loop()
    try loop.runOnNewThread()
    return loop
  }

  /// The loop for a program that has none of its own: made at the first call, and run on a thread of its own to the end
  /// of the process.
  public static func shared() throws(UVError) -> Loop { try started.get() }
}

import CCrypto

/// Bytes as OpenSSL takes them: a pointer that is never nil, which to some of its functions means something else than no bytes.
func withPointer<Result>(
  to bytes: [UInt8], _ body: (UnsafePointer<UInt8>, Int) throws -> Result
) rethrows -> Result {
  try bytes.withUnsafeBufferPointer { buffer in
    if let start = buffer.baseAddress { return try body(start, buffer.count) }
    var none: UInt8 = 0
    return try body(&none, 0)
  }
}

/// OpenSSL fails here only if the machine has no memory left, or the library is broken.
func require(_ code: Int32, _ function: StaticString = #function) {
  precondition(code == 1, "OpenSSL failed in \(function)")
}

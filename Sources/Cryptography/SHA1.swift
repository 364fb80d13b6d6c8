import CCrypto

/// SHA-1, for protocols that ask for it where it protects nothing. Source: FIPS 180-4.
public enum SHA1 {
  public static let byteCount = 20

  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { hash, count in
      withPointer(to: bytes) { require(EVP_Digest($0, $1, hash.baseAddress, nil, EVP_sha1(), nil)) }
      count = byteCount
    }
  }
}

import CCrypto

/// Signatures whose keys have 32 bytes, and which have 64. Source: RFC 8032.
public enum Ed25519 {
  public static let keyByteCount = 32
  public static let signatureByteCount = 64

  /// The key that signs. Shows nothing of itself but its public key.
  public struct PrivateKey: Sendable {
    /// 32 bytes of which the key is made.
    private let seed: [UInt8]
    public let publicKey: [UInt8]

    /// Nil unless the seed has 32 bytes.
    public init?(seed: [UInt8]) {
      guard seed.count == Ed25519.keyByteCount else { return nil }
      self.seed = seed
      publicKey = Self.withKey(seed) { key in
        [UInt8](unsafeUninitializedCapacity: Ed25519.keyByteCount) { bytes, count in
          count = Ed25519.keyByteCount
          require(EVP_PKEY_get_raw_public_key(key, bytes.baseAddress, &count))
        }
      }
    }

    /// 64 bytes, the same for the same text.
    public func signature(for text: [UInt8]) -> [UInt8] {
      Self.withKey(seed) { key in
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        require(EVP_DigestSignInit(context, nil, nil, nil, key))
        return [UInt8](unsafeUninitializedCapacity: Ed25519.signatureByteCount) { signature, count in
          count = Ed25519.signatureByteCount
          withPointer(to: text) { text, textCount in
            require(EVP_DigestSign(context, signature.baseAddress, &count, text, textCount))
          }
        }
      }
    }

    private static func withKey<Result>(_ seed: [UInt8], _ body: (OpaquePointer) -> Result) -> Result {
      guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
        preconditionFailure("any 32 bytes are the seed of a key")
      }
      defer { EVP_PKEY_free(key) }
      return body(key)
    }
  }

  /// Whether the owner of the key has signed the text. False, too, if key or signature are none.
  /// - Complexity: O(*n*) of the text, but about a hundred microseconds
  public static func isSignature(_ signature: [UInt8], of text: [UInt8], publicKey: [UInt8]) -> Bool {
    guard publicKey.count == keyByteCount, signature.count == signatureByteCount,
      let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
    else { return false }
    defer { EVP_PKEY_free(key) }
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      // What was wrong stays in the thread's queue, where TLS would take it for an error of its own.
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
      && withPointer(to: text) { EVP_DigestVerify(context, signature, signature.count, $0, $1) } == 1
  }
}

import CCrypto

/// Codes that show that their maker knows a key. Source: RFC 2104, with SHA-256.
public enum HMAC {
  /// The code of a text, 32 bytes.
  public static func code(for text: [UInt8], key: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { code, count in
      withPointer(to: key) { key, keyCount in
        withPointer(to: text) { text, textCount in
          let done = CCrypto.HMAC(EVP_sha256(), key, Int32(keyCount), text, textCount, code.baseAddress, nil)
          require(done == nil ? 0 : 1)
        }
      }
      count = SHA256.byteCount
    }
  }

  /// Takes the same time for every wrong code.
  public static func isCode(_ code: [UInt8], for text: [UInt8], key: [UInt8]) -> Bool {
    let right = self.code(for: text, key: key)
    return code.count == right.count && CRYPTO_memcmp(code, right, right.count) == 0
  }
}

/// Keys that are made of other secrets.
public enum DerivedKey {
  /// A key of 32 bytes of a passcode that people can remember. Each iteration costs two hashes, and so does each guess.
  /// Source: RFC 8018, section 5.2, PBKDF2 with HMAC-SHA256.
  public static func fromPasscode(_ passcode: [UInt8], salt: [UInt8], iterationCount: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { key, count in
      withPointer(to: passcode) { passcode, passcodeCount in
        passcode.withMemoryRebound(to: CChar.self, capacity: passcodeCount) { passcode in
          require(
            PKCS5_PBKDF2_HMAC(
              passcode, Int32(passcodeCount), salt, Int32(salt.count), Int32(iterationCount), EVP_sha256(),
              Int32(SHA256.byteCount), key.baseAddress))
        }
      }
      count = SHA256.byteCount
    }
  }

  /// A key of 32 bytes for one purpose, of a secret that is as good as random. Source: RFC 5869, HKDF with SHA-256 and
  /// without a salt.
  public static func fromSecret(_ secret: [UInt8], purpose: [UInt8]) -> [UInt8] {
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil)
    defer { EVP_PKEY_CTX_free(context) }
    require(EVP_PKEY_derive_init(context))
    require(EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()))
    withPointer(to: secret) { require(EVP_PKEY_CTX_set1_hkdf_key(context, $0, Int32($1))) }
    withPointer(to: purpose) { require(EVP_PKEY_CTX_add1_hkdf_info(context, $0, Int32($1))) }
    return [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { key, count in
      count = SHA256.byteCount
      require(EVP_PKEY_derive(context, key.baseAddress, &count))
    }
  }
}

import CCrypto

/// Encryption by which a change of the ciphertext is noticed: AES with a key of 256 bits in Galois/counter mode.
/// Source: NIST SP 800-38D.
public enum AESGCM {
  public static let keyByteCount = 32
  public static let nonceByteCount = 12
  public static let tagByteCount = 16

  /// Encrypts a text. A nonce must be used only once with a key.
  /// - Parameter data: is sealed with the text but not a part of it; `open` must be given the same.
  /// - Returns: the nonce, the ciphertext, which is as long as the text, and a tag; nil if key or nonce have a wrong length
  public static func seal(_ text: [UInt8], with data: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    guard key.count == keyByteCount, nonce.count == nonceByteCount else { return nil }
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    require(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce))
    var count: Int32 = 0
    if !data.isEmpty { require(EVP_EncryptUpdate(context, nil, &count, data, Int32(data.count))) }
    var sealed = nonce + [UInt8](repeating: 0, count: text.count + tagByteCount)
    sealed.withUnsafeMutableBufferPointer { sealed in
      guard let start = sealed.baseAddress else { return }
      if !text.isEmpty {
        require(EVP_EncryptUpdate(context, start + nonceByteCount, &count, text, Int32(text.count)))
      }
      let tag = start + nonceByteCount + text.count
      require(EVP_EncryptFinal_ex(context, tag, &count))
      require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), tag))
    }
    return sealed
  }

  /// The text; nil if it was sealed with another key or other data, or was changed.
  public static func open(_ sealed: [UInt8], with data: [UInt8], key: [UInt8]) -> [UInt8]? {
    guard key.count == keyByteCount, sealed.count >= nonceByteCount + tagByteCount else { return nil }
    let ciphertext = Array(sealed[nonceByteCount..<sealed.count - tagByteCount])
    var tag = Array(sealed.suffix(tagByteCount))
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    require(EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, sealed))
    var count: Int32 = 0
    if !data.isEmpty { require(EVP_DecryptUpdate(context, nil, &count, data, Int32(data.count))) }
    var text = [UInt8](repeating: 0, count: ciphertext.count)
    if !ciphertext.isEmpty {
      require(EVP_DecryptUpdate(context, &text, &count, ciphertext, Int32(ciphertext.count)))
    }
    require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagByteCount), &tag))
    var none: UInt8 = 0
    guard EVP_DecryptFinal_ex(context, &none, &count) == 1 else {
      ERR_clear_error()
      return nil
    }
    return text
  }
}

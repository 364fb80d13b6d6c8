internal import COpenSSL

/// One encrypted connection, in memory: bytes from the socket go in, plain bytes come out, and the other way round.
///
///     handshaking ──advance──► established ──(error)──► of no more use
///
/// OpenSSL has no access to the socket. After every call, write the result of `takeOutput` to the socket, even after an
/// error, about which it tells the other side.
package final class TLSSession {
  private static let readByteCount = 16 << 10
  /// Plain bytes that are encrypted at a time, so that OpenSSL's buffer stays small.
  package static let writeByteCount = 64 << 10

  /// How the other side has to identify itself.
  private enum Verification {
    /// By a key; nil for any key, otherwise one whose fingerprint begins with these bytes.
    case key(beginningWith: [UInt8]?)
    /// As the context requires: by a certificate that OpenSSL has verified, or not at all.
    case certificate
  }

  /// Owns what `ssl` was made from.
  private let context: AnyObject
  private let verification: Verification
  private var isEstablished = false
  // `ssl` owns both buffers; all three go with `SSL_free` in `deinit`.
  private let ssl: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer
  private let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: readByteCount, alignment: 16)
  /// The key that the other side has proved; nil until then.
  package private(set) var peerFingerprint: [UInt8]?
  private var sawWrongKey = false

  /// - Parameter expected: the first bytes of the only fingerprints that are accepted; nil for any. No fingerprint
  ///   matches an empty array.
  package convenience init(
    _ context: TLSContext, _ side: TLSContext.Side, expecting expected: [UInt8]? = nil
  ) throws(TLSError) {
    try self.init(context, context.raw(side), side, .key(beginningWith: expected))
  }

  /// - Parameter host: the server's name or address, when calling one.
  package convenience init(_ context: WebTLSContext, host: String? = nil) throws(TLSError) {
    try self.init(context, context.raw, host == nil ? .listener : .dialer, .certificate)
    guard let host else { return }
    // A name is sent to the server and checked; an address is only checked.
    let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
    guard isAddress || SSL_set1_host(ssl, host) == 1 && notes_ssl_ask_for_host(ssl, host) == 1 else {
      throw .unavailable(TLSContext.lastError)
    }
  }

  private init(
    _ context: AnyObject, _ raw: OpaquePointer, _ side: TLSContext.Side, _ verification: Verification
  ) throws(TLSError) {
    guard let ssl = SSL_new(raw), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
    else { throw .unavailable(TLSContext.lastError) }
    (self.context, self.verification, self.ssl, self.input, self.output) = (context, verification, ssl, input, output)
    SSL_set_bio(ssl, input, output)
    switch side {
    case .dialer: SSL_set_connect_state(ssl)
    case .listener: SSL_set_accept_state(ssl)
    }
    // Used only while a handshake of this session runs.
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    SSL_free(ssl)
    plain.deallocate()
  }

  /// Reads bytes from the socket.
  package func receive(_ bytes: UnsafeRawBufferPointer) throws(TLSError) {
    guard !bytes.isEmpty else { return }
    guard BIO_write(input, bytes.baseAddress, Int32(bytes.count)) == Int32(bytes.count) else {
      throw .unavailable(TLSContext.lastError)
    }
  }

  /// Continues the handshake.
  /// - Returns: whether it is done. The dialer's is done before the listener has accepted it.
  package func advance() throws(TLSError) -> Bool {
    if isEstablished { return true }
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    guard result == 1 else {
      let code = SSL_get_error(ssl, result)
      if code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE { return false }
      throw sawWrongKey ? .wrongKey : .handshake(failure)
    }
    guard case .key = verification else {
      isEstablished = true
      return true
    }
    guard hasOurProtocol else { throw .otherProtocol }
    guard let certificate = SSL_get0_peer_certificate(ssl),
      let fingerprint = TLSSession.fingerprint(of: certificate)
    else { throw .handshake("no certificate") }
    (peerFingerprint, isEstablished) = (fingerprint, true)
    return true
  }

  /// Why the handshake has failed: the fault of the other side's certificate, if that is the reason.
  private var failure: String {
    let verdict = SSL_get_verify_result(ssl)
    guard case .certificate = verification, verdict != Int(X509_V_OK) else { return TLSContext.lastError }
    return X509_verify_cert_error_string(verdict).map { "its certificate: \(String(cString: $0))" }
      ?? TLSContext.lastError
  }

  /// Decrypted bytes that have arrived, valid until the next call; nil when there are none left.
  package func read() throws(TLSError) -> UnsafeRawBufferPointer? {
    ERR_clear_error()
    let count = SSL_read(ssl, plain.baseAddress, Int32(plain.count))
    if count > 0 { return UnsafeRawBufferPointer(rebasing: plain[..<Int(count)]) }
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
    case SSL_ERROR_ZERO_RETURN: throw .broken("the other side has closed it")
    default: throw .broken(TLSContext.lastError)
    }
  }

  /// Encrypts up to `writeByteCount` bytes.
  package func write(_ bytes: ArraySlice<UInt8>) throws(TLSError) {
    guard !bytes.isEmpty else { return }
    ERR_clear_error()
    let count = bytes.withUnsafeBytes { SSL_write(ssl, $0.baseAddress, Int32($0.count)) }
    guard Int(count) == bytes.count else { throw .broken(TLSContext.lastError) }
  }

  /// Announces that we send no more.
  package func finish() {
    ERR_clear_error()
    SSL_shutdown(ssl)
  }

  /// Removes and returns the bytes to write to the socket.
  package func takeOutput() -> [UInt8] {
    let byteCount = BIO_ctrl_pending(output)
    guard byteCount > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      count = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(clamping: byteCount))))
    }
  }

  private var hasOurProtocol: Bool {
    var name: UnsafePointer<UInt8>?
    var byteCount: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &byteCount)
    return UnsafeBufferPointer(start: name, count: Int(byteCount)).elementsEqual(TLSContext.applicationProtocol)
  }

  // MARK: Certificates

  /// Examines only the key in the other side's certificate. The handshake itself proves that the other side has the
  /// private half.
  package static func isAcceptable(_ store: OpaquePointer?) -> Bool {
    guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
      let data = SSL_get_ex_data(OpaquePointer(ssl), 0), let certificate = X509_STORE_CTX_get0_cert(store),
      let fingerprint = fingerprint(of: certificate)
    else { return false }
    let session = Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
    guard case .key(let expected) = session.verification,
      expected.map({ !$0.isEmpty && fingerprint.starts(with: $0) }) ?? true
    else {
      session.sawWrongKey = true
      return false
    }
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return true
  }

  /// Nil unless the certificate is for an Ed25519 key.
  private static func fingerprint(of certificate: OpaquePointer) -> [UInt8]? {
    guard let key = X509_get0_pubkey(certificate), EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Identity.byteCount)
    var count = bytes.count
    guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == bytes.count else { return nil }
    return Identity.fingerprint(ofPublicKey: bytes)
  }
}

internal import COpenSSL

/// TLS as websites use it, version 1.2 or later: a server shows a certificate, which the caller verifies; the caller
/// shows none.
///
/// Sessions are not resumed.
package final class WebTLSContext {
  // Freed in `deinit`, and never handed out beyond a session, which holds the context.
  package let raw: OpaquePointer

  /// A context for a server.
  ///
  /// - Parameters:
  ///   - certificateFile: the server's certificate and those between it and a known authority, in PEM
  ///   - keyFile: the private key of the certificate, in PEM, without a passphrase.
  package init(certificateFile: String, keyFile: String) throws(TLSError) {
    raw = try WebTLSContext.make(TLS_server_method())
    guard SSL_CTX_use_certificate_chain_file(raw, certificateFile) == 1 else {
      throw .unavailable("the certificate in \(certificateFile) cannot be used: \(TLSContext.lastError)")
    }
    guard SSL_CTX_use_PrivateKey_file(raw, keyFile, SSL_FILETYPE_PEM) == 1, SSL_CTX_check_private_key(raw) == 1 else {
      throw .unavailable("the key in \(keyFile) cannot be used: \(TLSContext.lastError)")
    }
  }

  /// A context for callers.
  ///
  /// - Parameter authorityFile: certificates of the authorities to trust, in PEM; nil for those that the system trusts.
  package init(authorityFile: String?) throws(TLSError) {
    raw = try WebTLSContext.make(TLS_client_method())
    SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
    if let authorityFile {
      guard SSL_CTX_load_verify_locations(raw, authorityFile, nil) == 1 else {
        throw .unavailable("the certificates in \(authorityFile) cannot be used: \(TLSContext.lastError)")
      }
    } else {
      guard SSL_CTX_set_default_verify_paths(raw) == 1 else { throw .unavailable(TLSContext.lastError) }
    }
  }

  deinit { SSL_CTX_free(raw) }

  private static func make(_ method: OpaquePointer?) throws(TLSError) -> OpaquePointer {
    ERR_clear_error()
    guard let context = SSL_CTX_new(method) else { throw .unavailable(TLSContext.lastError) }
    guard notes_ssl_from_tls_1_2(context) == 1 else {
      SSL_CTX_free(context)
      throw .unavailable(TLSContext.lastError)
    }
    notes_ssl_keep_little(context)
    notes_ssl_no_resumption(context)
    return context
  }
}

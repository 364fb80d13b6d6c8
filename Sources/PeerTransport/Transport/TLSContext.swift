internal import COpenSSL

/// What all encrypted connections of one identity share: its key, and a certificate whose only purpose is to contain
/// the key.
///
/// TLS 1.3 only; both sides prove a key; sessions are not resumed. A certificate's name, dates and issuer are ignored.
/// Only the key counts, and TLS itself proves that the other side has it.
package final class TLSContext {
  package enum Side { case dialer, listener }

  /// The purpose of the connections, so that they cannot be confused with those of another service that trusts the same
  /// key. Source: PeerProtocol.md, "Links".
  package static let applicationProtocol = Array("notes-lsp/1".utf8)

  // Freed in `deinit`, and never handed out beyond a session, which holds the context.
  private let dialer: OpaquePointer
  private let listener: OpaquePointer

  /// When a certificate is valid, in ASN.1's notation. Peers ignore it.
  package typealias Validity = (from: String, through: String)
  package static let always: Validity = ("20200101000000Z", "99991231235959Z")

  package init(_ identity: Identity, validity: Validity = always) throws(TLSError) {
    let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, identity.privateKey, identity.privateKey.count)
    guard let key else { throw .unavailable(TLSContext.lastError) }
    defer { EVP_PKEY_free(key) }
    let certificate = try TLSContext.certificate(for: key, validity)
    defer { X509_free(certificate) }
    let dialer = try TLSContext.make(TLS_client_method(), key, certificate)
    do {
      listener = try TLSContext.make(TLS_server_method(), key, certificate)
    } catch {
      SSL_CTX_free(dialer)
      throw error
    }
    self.dialer = dialer
  }

  deinit {
    SSL_CTX_free(dialer)
    SSL_CTX_free(listener)
  }

  package func raw(_ side: Side) -> OpaquePointer {
    switch side {
    case .dialer: dialer
    case .listener: listener
    }
  }

  private static func make(
    _ method: OpaquePointer?, _ key: OpaquePointer, _ certificate: OpaquePointer
  ) throws(TLSError) -> OpaquePointer {
    guard let context = SSL_CTX_new(method) else { throw .unavailable(lastError) }
    let wireProtocols = [UInt8(applicationProtocol.count)] + applicationProtocol
    guard notes_ssl_only_tls_1_3(context) == 1, notes_ssl_only_x25519(context) == 1,
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1,
      SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1,
      SSL_CTX_set_num_tickets(context, 0) == 1,
      SSL_CTX_set_alpn_protos(context, wireProtocols, UInt32(wireProtocols.count)) == 0
    else {
      let error = lastError
      SSL_CTX_free(context)
      throw .unavailable(error)
    }
    notes_ssl_keep_little(context)
    notes_ssl_no_resumption(context)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    SSL_CTX_set_cert_verify_callback(context, { store, _ in TLSSession.isAcceptable(store) ? 1 : 0 }, nil)
    SSL_CTX_set_alpn_select_cb(
      context,
      { _, chosen, chosenCount, offered, offeredCount, _ in
        TLSContext.choose(chosen, chosenCount, offered, offeredCount)
      }, nil)
    return context
  }

  /// Chooses our protocol if it is offered. The result points into the offer, as OpenSSL requires.
  private static func choose(
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
  ) -> Int32 {
    let offer = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    var index = 0
    while index < offer.count {
      let (start, end) = (index + 1, index + 1 + Int(offer[index]))
      guard end <= offer.count else { break }
      if offer[start..<end].elementsEqual(applicationProtocol) {
        chosen?.pointee = offered.map { $0 + start }
        chosenCount?.pointee = offer[index]
        return SSL_TLSEXT_ERR_OK
      }
      index = end
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
  }

  private static func certificate(for key: OpaquePointer, _ validity: Validity) throws(TLSError) -> OpaquePointer {
    guard let certificate = X509_new() else { throw .unavailable(lastError) }
    let name = X509_get_subject_name(certificate)
    guard X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1,
      ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), validity.from) == 1,
      ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), validity.through) == 1,
      X509_NAME_add_entry_by_txt(name, "CN", utf8Text, "notes-lsp", -1, -1, 0) == 1,
      X509_set_issuer_name(certificate, name) == 1, X509_set_pubkey(certificate, key) == 1,
      X509_sign(certificate, key, nil) > 0
    else {
      let error = lastError
      X509_free(certificate)
      throw .unavailable(error)
    }
    return certificate
  }

  /// ASN.1's tag of UTF-8 text. Source: OpenSSL's `MBSTRING_UTF8`, a macro that Swift does not import.
  private static let utf8Text: Int32 = 0x1000

  /// OpenSSL's last error; reading it clears it.
  package static var lastError: String {
    var text = "no reason given"
    var code = ERR_get_error()
    while code != 0 {
      text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
      code = ERR_get_error()
    }
    return text
  }
}

import TestSupport
import WebSocketNetwork

extension TestAuthority {
  /// The server's files, as the provider takes them.
  var certificate: WebSocketCertificate {
    WebSocketCertificate(certificateFile: certificateFile, keyFile: keyFile)
  }
}

import TestSupport
import WebSocketNetwork

/// An authority of our own, and a certificate that it has signed for `localhost` and 127.0.0.1.
final class TestAuthority {
  private let directory: TemporaryDirectory
  var authorityFile: String { directory.file("ca.pem") }
  var certificate: WebSocketCertificate {
    WebSocketCertificate(certificateFile: directory.file("server.pem"), keyFile: directory.file("server.key"))
  }

  /// - Parameter names: what the certificate is for, in OpenSSL's notation.
  init(names: String = "DNS:localhost,IP:127.0.0.1") throws {
    directory = try TemporaryDirectory()
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    try openssl(
      ["req", "-x509"] + curve + ["-subj", "/CN=authority", "-keyout", directory.file("ca.key"), "-out", authorityFile])
    try openssl(
      ["req", "-x509"] + curve + [
        "-subj", "/CN=server", "-addext", "subjectAltName=\(names)", "-addext", "basicConstraints=critical,CA:FALSE",
        "-CA", authorityFile, "-CAkey", directory.file("ca.key"),
        "-keyout", certificate.keyFile, "-out", certificate.certificateFile,
      ])
  }

  private func openssl(_ arguments: [String]) throws {
    let result = try ChildProcess.run(["openssl"] + arguments)
    guard result.exit == .code(0) else {
      throw NeverHappened(what: String(decoding: result.errorOutput, as: UTF8.self))
    }
  }
}

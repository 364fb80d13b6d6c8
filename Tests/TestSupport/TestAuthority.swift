import Foundation

/// A certificate for a server of the tests, and the authority that vouches for it. The files go when this object does.
public final class TestAuthority {
  private let directory: TemporaryDirectory
  /// The authority's certificate, in PEM.
  public let authorityFile: String
  /// The server's certificate and its private key, in PEM.
  public let certificateFile: String
  public let keyFile: String

  /// Whether there is an openssl, which makes them.
  public static let isAvailable = (try? ChildProcess.run(["openssl", "version"]).exit) == .code(0)

  /// - Parameters:
  ///   - names: what the certificate is for, in OpenSSL's notation.
  ///   - isSelfSigned: the server's certificate is its own authority.
  public init(names: String = "DNS:localhost,IP:127.0.0.1", isSelfSigned: Bool = false) throws {
    directory = try TemporaryDirectory()
    (certificateFile, keyFile) = (directory.file("server.pem"), directory.file("server.key"))
    authorityFile = isSelfSigned ? certificateFile : directory.file("ca.pem")
    let server = [
      "-subj", "/CN=server", "-addext", "subjectAltName=\(names)", "-keyout", keyFile, "-out", certificateFile,
    ]
    if isSelfSigned {
      try Self.request(server)
    } else {
      let authorityKey = directory.file("ca.key")
      try Self.request(["-subj", "/CN=authority", "-keyout", authorityKey, "-out", authorityFile])
      let signing = ["-addext", "basicConstraints=critical,CA:FALSE", "-CA", authorityFile, "-CAkey", authorityKey]
      try Self.request(server + signing)
    }
  }

  private static func request(_ arguments: [String]) throws {
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    let result = try ChildProcess.run(["openssl", "req", "-x509"] + curve + arguments)
    guard result.exit == .code(0) else {
      throw ProcessError.ended(waitingFor: "openssl", details: String(decoding: result.errorOutput, as: UTF8.self))
    }
  }
}

import AutomergeRepo
import Foundation
import TestSupport
import UV

/// Stands between a store and its server, at a unix socket of its own, and holds or cuts what passes.
@AutomergeRepo
final class CuttingProxy {
  enum Side { case client, server }

  /// One connection of the store.
  final class Link {
    let client: PipeStream
    var server: PipeStream?
    /// What has come from the client before there was a server.
    var early: [UInt8] = []
    /// What is held, of each side's bytes.
    var held: [Side: [UInt8]] = [:]
    /// All that the client has sent.
    var sent: [UInt8] = []
    /// Set to keep back what that side sends from now on.
    var holds: Set<Side> = []

    init(_ client: PipeStream) { self.client = client }

    /// Whether the store writes over this connection.
    var isWriter: Bool { sent.contains("notes-lsp writer") }

    /// Sends what was held, and holds no more.
    func release(_ side: Side) {
      holds.remove(side)
      let bytes = held.removeValue(forKey: side) ?? []
      try? (side == .client ? server : client)?.write(bytes)
    }

    /// Ends the connection to the client; the server does not notice.
    func cutClient() { client.close() }
  }

  private(set) var links: [Link] = []
  /// Called with all that has passed, before it is passed on.
  var onBytes: ((Link, Side, [UInt8]) -> Void)?
  /// Whether the server's end is closed when the client's has ended.
  var closesServers = true

  private let directory: TemporaryDirectory
  private let serverPath: String
  private let loop: Loop
  private var listener: UnixListener?

  /// The folder to connect to.
  var folder: String { directory.path }

  init(to serverFolder: String, on loop: Loop) throws {
    directory = try TemporaryDirectory()
    serverPath = serverFolder + "/.s.PGSQL.5432"
    self.loop = loop
    listener = try UnixListener(on: loop, path: directory.file(".s.PGSQL.5432")) { [weak self] stream in
      nonisolated(unsafe) let stream = stream
      AutomergeRepo.assumeIsolated { self?.accept(stream) }
    }
  }

  func close() {
    listener?.close()
    for link in links {
      link.client.close()
      link.server?.close()
    }
  }

  private func accept(_ client: PipeStream) {
    let link = Link(client)
    links.append(link)
    client.onRead = { [weak self] bytes in
      let bytes = Array(bytes)
      AutomergeRepo.assumeIsolated { self?.pass(bytes, link, .client) }
    }
    client.onEnd = { client.close() }
    client.onClose = { [weak self] _ in
      AutomergeRepo.assumeIsolated { if self?.closesServers == true { link.server?.close() } }
    }
    client.resumeReading()
    PipeStream.connect(on: loop, path: serverPath) { result in
      nonisolated(unsafe) let result = result
      AutomergeRepo.assumeIsolated { self.connected(link, result) }
    }
  }

  private func connected(_ link: Link, _ result: Result<PipeStream, UVError>) {
    guard case .success(let server) = result else { return link.client.close() }
    link.server = server
    server.onRead = { [weak self] bytes in
      let bytes = Array(bytes)
      AutomergeRepo.assumeIsolated { self?.pass(bytes, link, .server) }
    }
    server.onEnd = { server.close() }
    server.onClose = { _ in AutomergeRepo.assumeIsolated { link.client.close() } }
    server.resumeReading()
    try? server.write(link.early)
  }

  private func pass(_ bytes: [UInt8], _ link: Link, _ side: Side) {
    if side == .client { link.sent += bytes }
    onBytes?(link, side, bytes)
    if link.holds.contains(side) {
      link.held[side, default: []] += bytes
    } else if side == .client {
      guard let server = link.server else { return link.early += bytes }
      try? server.write(bytes)
    } else {
      try? link.client.write(bytes)
    }
  }
}

extension [UInt8] {
  /// Whether a text occurs in the bytes.
  func contains(_ text: String) -> Bool { Data(self).range(of: Data(text.utf8)) != nil }
}

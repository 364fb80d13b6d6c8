import Foundation
import TestSupport

/// A replica kept by the reference implementation, in a process of its own. Speaks the frames of `reference_peer.py`.
final class ReferencePeer {
  struct Status: Equatable {
    var heads: [String]
    var text: String?
  }

  enum Failure: Error {
    case refused(String)
  }

  private let child: ChildProcess
  private let deadline = Patience.hang

  init() throws {
    guard let python = Reference.python else { throw CocoaError(.fileNoSuchFile) }
    child = try ChildProcess([python, Reference.peerScript])
  }

  /// Hands over a sync message and takes the answer; nil is "nothing to say".
  func sync(_ message: Data?) throws -> Data? {
    let reply = try exchange("m", message.map(Array.init) ?? [])
    return reply.isEmpty ? nil : Data(reply)
  }

  func forgetSyncState() throws { _ = try exchange("r") }
  func save() throws -> Data { Data(try exchange("s")) }
  func status() throws -> Status { try status(exchange("q")) }
  func load(_ document: Data) throws -> Status { try status(exchange("l", Array(document))) }

  /// Makes so many random edits of objects and values of all kinds, each a change.
  func editAnything(seed: UInt64, count: Int, marking: Bool) throws -> Status {
    try status(exchange("g", Array("[\(seed), \(count), \(marking)]".utf8)))
  }

  func setActor(_ bytes: [UInt8]) throws { _ = try exchange("n", bytes) }

  /// Merges what is in another document's file.
  func merge(_ document: Data) throws -> Status { try status(exchange("a", Array(document))) }

  /// All values with their types, and marks; without what is at keys that begin with c.
  func values() throws -> JSON { try JSON.parse(Data(exchange("v"))) }

  /// Replaces `delete` scalars at `index` of the text, in one change.
  func edit(at index: Int, delete: Int, insert: String) throws -> Status {
    let edit = try JSONSerialization.data(withJSONObject: [[index, delete, insert] as [Any]])
    return try status(exchange("e", Array(edit)))
  }

  private func status(_ bytes: [UInt8]) throws -> Status {
    let json = try JSON.parse(Data(bytes))
    return Status(heads: json["heads"].strings, text: json["text"].string)
  }

  private func exchange(_ kind: Character, _ payload: [UInt8] = []) throws -> [UInt8] {
    let count = UInt32(payload.count)
    child.write(Array(String(kind).utf8) + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + payload)
    try child.wait(for: "a reply to \(kind)", until: .now + deadline) { Self.frame(in: $0.output) != nil }
    guard let (reply, body) = Self.frame(in: child.output) else { return [] }
    child.output.removeFirst(5 + body.count)
    if reply == UInt8(ascii: "x") { throw Failure.refused(String(decoding: body, as: UTF8.self)) }
    return body
  }

  private static func frame(in bytes: [UInt8]) -> (kind: UInt8, body: [UInt8])? {
    guard bytes.count >= 5 else { return nil }
    let count = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
    return bytes.count < 5 + count ? nil : (bytes[0], Array(bytes[5..<5 + count]))
  }
}

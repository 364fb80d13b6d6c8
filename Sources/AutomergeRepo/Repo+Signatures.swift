import Automerge
import Foundation

/// The message in which peers pass on signatures of changes. Source: PeerProtocol.md, "Signatures".
extension Repo {
  /// The most signatures in one message.
  static let mostSignatures = 256

  func send(digest: Data, on document: DocumentId, to peer: PeerId) {
    send(
      type: OwnMessage.signed.rawValue,
      fields: ["documentId": .text(document.description), "digest": .bytes(digest)], to: peer)
  }

  func send(_ signatures: [ChangeSignature], on document: DocumentId, to peer: PeerId) {
    for start in stride(from: 0, to: signatures.count, by: Repo.mostSignatures) {
      let part = signatures[start..<min(signatures.count, start + Repo.mostSignatures)]
      send(
        type: OwnMessage.signed.rawValue,
        fields: [
          "documentId": .text(document.description), "signatures": .array(part.map { .bytes($0.encoded) }),
        ], to: peer)
    }
  }

  func receiveSigned(_ fields: [String: CBOR], from peer: PeerId) {
    guard let handle = sharedHandle(fields, with: peer) else { return }
    if let list = fields["signatures"]?.array {
      let signatures = list.prefix(Repo.mostSignatures).compactMap { $0.bytes.flatMap(ChangeSignature.init(encoded:)) }
      handle.signatures.heard(signatures, from: peer)
    } else if let digest = fields["digest"]?.bytes, digest.count == SignatureBook.emptyDigest.count {
      handle.signatures.heard(digest: digest, from: peer)
    }
  }
}

extension DocHandle {
  /// Which of the document's changes are vouched for now.
  /// - Complexity: O(n) in the actors
  public func vouching() -> ChangeVouching { signatures.vouching() }

  /// Takes over the signatures of a document of which this is a copy, with the same changes.
  public func adoptSignatures(of original: DocHandle) {
    original.signatures.signNow()
    signatures.adopt(original.signatures)
  }

  /// Signs the changes of a process of this person that died before it could.
  ///
  /// - Parameters:
  ///   - changes: chunks that this process has kept; those of the actor did not come from a peer
  ///   - actor: the actor that it wrote as, in this document and nowhere later
  public func sign(_ changes: Data, of actor: ActorId) async {
    signatures.sign(await Self.hashes(in: changes), of: actor)
  }

  @concurrent
  private static func hashes(in changes: Data) async -> [ChangeHash] { ChunkReport.of(changes).flatMap(\.changes) }
}

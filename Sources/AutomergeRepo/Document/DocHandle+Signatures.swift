import Automerge
import Foundation

/// Which of the document's changes are signed, and by whose key.
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
  ///   - changes: chunks from a journal; the actor's changes among them did not come from a peer
  ///   - actor: the actor that the dead process wrote as, in this document; no process uses it again
  public func sign(_ changes: Data, of actor: ActorId) async {
    signatures.sign(await Self.hashes(in: changes), of: actor)
  }

  @concurrent
  private static func hashes(in changes: Data) async -> [ChangeHash] { ChunkReport.of(changes).flatMap(\.changes) }
}

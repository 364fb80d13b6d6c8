import Automerge
import AutomergeRepo

/// The share policy of a server: what the access file allows, and what tickets and invitations granted.
///
/// A peer with a key has the access that it was granted or that the file gives it, whichever is more. A peer without a
/// key has the access that the file gives its token; without a file it has none.
public final class ServerPolicy: ShareAuthorizing {
  /// How a peer without a key was admitted.
  public enum Admission: Hashable, Sendable {
    case token(AccessToken)
    /// Without a token, because the file gives something to everyone.
    case open

    /// The text in a link's proof, which is not the token.
    var text: String {
      switch self {
      case .token(let token): token.hexadecimal
      case .open: ""
      }
    }

    init?(_ text: String) {
      if text.isEmpty {
        self = .open
      } else if let token = AccessToken(hexadecimal: text) {
        self = .token(token)
      } else {
        return nil
      }
    }
  }

  private let granted: any ShareAuthorizing
  /// Nil without an access file.
  public private(set) var file: ServerAccess?
  private var admissions: [PeerId: Admission] = [:]

  /// - Parameter granted: the policy of tickets and invitations
  public init(file: ServerAccess?, granted: any ShareAuthorizing) { (self.file, self.granted) = (file, granted) }

  /// Uses another version of the file from now on. Afterwards call `Repo.policyChanged`, and end the links of peers
  /// that are no longer admitted.
  public func use(_ file: ServerAccess) { self.file = file }

  // MARK: Peers without a key

  /// How to admit a peer without a key that presents this token, or none; nil to refuse it.
  ///
  /// - Parameter origin: the site of the page that connects; nil if the client is not a browser. Any page can make a visitor's
  ///   browser connect to a server behind the visitor's firewall, so without a token only pages of the file's sites are admitted.
  public func admission(presenting token: String?, origin: String? = nil) -> Admission? {
    guard let file else { return nil }
    if let token { return file.token(presented: token).map { .token($0) } }
    guard file.fallback.access > .none, origin.map(file.origins.contains) ?? true else { return nil }
    return .open
  }

  /// Records that a peer without a key is connected.
  ///
  /// - Returns: false if the file no longer admits it: it may have changed since the connection was admitted
  @discardableResult
  public func admit(_ peer: PeerId, as admission: Admission) -> Bool {
    admissions[peer] = admission
    return rule(of: admission).access > .none
  }

  public func dismiss(_ peer: PeerId) { admissions[peer] = nil }

  /// The connected peers whose admission is no longer in the file.
  public var unwanted: [PeerId] {
    admissions.filter { rule(of: $0.value).access == .none }.keys.sorted()
  }

  private func rule(of admission: Admission) -> AccessRule {
    guard let file else { return .nothing }
    return switch admission {
    case .token(let token): file.rule(for: token) ?? .nothing
    case .open: file.fallback
    }
  }

  // MARK: Policy

  /// Whether the file gives a peer with a key anything.
  public func isAdmitted(_ peer: PeerId) -> Bool { file.map { $0.rule(for: peer).access > .none } ?? false }

  private func rule(for peer: PeerId) -> AccessRule {
    if let admission = admissions[peer] { return rule(of: admission) }
    return file?.rule(for: peer) ?? .nothing
  }

  public func access(_ document: DocumentId, for peer: PeerId) -> Access {
    let allowed = rule(for: peer).access(to: document)
    return admissions[peer] == nil ? max(allowed, granted.access(document, for: peer)) : allowed
  }

  /// A peer is told of the documents that the file names for it; it must ask for all others.
  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool {
    if admissions[peer] == nil, granted.announce(document, to: peer) { return true }
    let rule = rule(for: peer)
    guard rule.access > .none, case .listed(let ids) = rule.documents else { return false }
    return ids.contains(document)
  }

  public func documents(sharedWith peer: PeerId) -> [DocumentId]? {
    let rule = rule(for: peer)
    var ids: Set<DocumentId> = []
    if rule.access > .none, case .listed(let listed) = rule.documents { ids = listed }
    guard admissions[peer] == nil else { return Array(ids) }
    return granted.documents(sharedWith: peer).map { Array(ids.union($0)) }
  }

  public func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool {
    rule(for: peer).mayCreate(document)
      || admissions[peer] == nil && granted.access(document, for: peer) == .write
        && granted.mayCreate(document, peer)
  }

  /// A peer without a key cannot prove that it is an author, so it cannot keep other peers from bringing a change.
  public func fits(_ actor: ActorId, _ peer: PeerId) -> Bool {
    admissions[peer] == nil && granted.fits(actor, peer)
  }
}

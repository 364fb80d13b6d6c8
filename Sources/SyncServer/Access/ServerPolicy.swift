import Automerge
import AutomergeRepo

/// The share policy of a server: what the access file allows, and what tickets and invitations have granted.
///
/// A peer with a key has what it was granted, or what the file says for it, whichever is more. A peer without a key has what the
/// file says for the token with which it has come; without a file it has nothing.
public final class ServerPolicy: ShareAuthorizing {
  /// How a peer without a key has come.
  public enum Admission: Hashable, Sendable {
    case token(AccessToken)
    /// Without a token, because the file has something for everybody.
    case open

    /// What a link carries of it, which is not the token.
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

  /// Uses another version of the file from now on. Call `Repo.policyChanged`, and end the links of peers that are no longer
  /// admitted.
  public func use(_ file: ServerAccess) { self.file = file }

  // MARK: Peers without a key

  /// Whether a peer without a key may come with this token, or without any.
  ///
  /// - Parameter origin: the site of the page that connects; nil if the client is not a browser. Any page can make a visitor's
  ///   browser connect to a server behind the visitor's firewall, so without a token only pages of the file's sites are admitted.
  public func admission(presenting token: String?, origin: String? = nil) -> Admission? {
    guard let file else { return nil }
    if let token { return file.token(presented: token).map { .token($0) } }
    guard file.fallback.access > .none, origin.map(file.origins.contains) ?? true else { return nil }
    return .open
  }

  /// A peer without a key is connected.
  public func admit(_ peer: PeerId, as admission: Admission) { admissions[peer] = admission }

  public func dismiss(_ peer: PeerId) { admissions[peer] = nil }

  /// The connected peers whose admission the file no longer has.
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

  /// Where the file names documents, the peer is told of them; of all others it has to ask.
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

  /// A peer without a key cannot prove to be the author of anything, so it cannot keep others from bringing a change.
  public func fits(_ actor: ActorId, _ peer: PeerId) -> Bool {
    admissions[peer] == nil && granted.fits(actor, peer)
  }
}

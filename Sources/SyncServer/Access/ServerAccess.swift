import AutomergeRepo

/// The content of an access file: which peers may read, write and create which documents. `Serve.md` describes the
/// file.
///
/// Tokens are for peers without a key, peer ids for peers that have proved their key, and `fallback` is for all others.
public struct ServerAccess: Equatable, Sendable {
  public internal(set) var fallback = AccessRule.nothing
  public internal(set) var peers: [PeerId: AccessRule] = [:]
  /// The sites whose pages may connect without a token.
  public internal(set) var origins: Origins = .listed([])
  private var rules: [AccessToken: AccessRule] = [:]
  /// Whether the file contains a plain token, and whether every user of this machine can read the file.
  var hasOpenTokens = false
  var isReadableByOthers = false

  public init() {}

  /// Sites, as browsers name them in the field `Origin`: `https://notes.example`.
  public enum Origins: Hashable, Sendable {
    case all
    case listed(Set<String>)

    func contains(_ origin: String) -> Bool {
      switch self {
      case .all: true
      case .listed(let origins): origins.contains(origin.lowercased())
      }
    }
  }

  public var tokenCount: Int { rules.count }

  /// Whether every user of this machine can read tokens.
  public var isExposed: Bool { hasOpenTokens && isReadableByOthers }

  /// The rule of a token; nil if the token is not in the file.
  public func rule(for token: AccessToken) -> AccessRule? { rules[token] }

  /// The rule of a peer that has proved its key.
  public func rule(for peer: PeerId) -> AccessRule { peers[peer] ?? fallback }

  /// The token of the file that equals the presented text; nil if there is none.
  ///
  /// - Complexity: O(n) in the tokens; the time is the same for all texts of one length
  public func token(presented text: String) -> AccessToken? {
    let presented = AccessToken(text)
    var found: AccessToken?
    for token in rules.keys where token.isEqual(to: presented) { found = token }
    return found
  }

  mutating func add(_ rule: AccessRule, for token: AccessToken) { rules[token] = rule }
}

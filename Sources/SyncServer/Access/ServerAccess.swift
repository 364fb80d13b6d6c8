import AutomergeRepo

/// What an access file says: who may read, write and create which documents. `Serve.md` describes the file.
///
/// A token counts for a peer without a key, a peer id for a peer that has proved its key, and `fallback` for all others.
public struct ServerAccess: Equatable, Sendable {
  public internal(set) var fallback = AccessRule.nothing
  public internal(set) var peers: [PeerId: AccessRule] = [:]
  /// The sites whose pages may come without a token.
  public internal(set) var origins: Origins = .listed([])
  private var rules: [AccessToken: AccessRule] = [:]
  /// Whether a token stands in the file in the clear, and whether everybody on this machine can read the file.
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

  /// Whether everybody on this machine can read tokens.
  public var isExposed: Bool { hasOpenTokens && isReadableByOthers }

  /// What the file says for a token; nil if it is not in the file.
  public func rule(for token: AccessToken) -> AccessRule? { rules[token] }

  /// What the file says for a peer that has proved its key.
  public func rule(for peer: PeerId) -> AccessRule { peers[peer] ?? fallback }

  /// The file's token that a peer has presented; nil if there is none.
  ///
  /// - Complexity: O(n) in the tokens, and takes the same time for every text of one length.
  public func token(presented text: String) -> AccessToken? {
    let presented = AccessToken(text)
    var found: AccessToken?
    for token in rules.keys where token.isEqual(to: presented) { found = token }
    return found
  }

  mutating func add(_ rule: AccessRule, for token: AccessToken) { rules[token] = rule }
}

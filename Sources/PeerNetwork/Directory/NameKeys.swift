import AutomergeRepo

/// The keys by which names are compared, each computed once: lists compare every name with every other.
@AutomergeRepo
final class NameKeys {
  /// More than the number of peers that are connected or nearby at a time.
  private static let maximumCount = 2048

  private var keys: [String: String] = [:]

  subscript(name: String) -> String {
    if let key = keys[name] { return key }
    if keys.count >= Self.maximumCount { keys = [:] }
    let key = ForeignWords.key(of: name)
    keys[name] = key
    return key
  }
}

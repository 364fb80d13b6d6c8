import AutomergeRepo

/// Keeps the heads of documents few, by a change without content on top of all of them.
///
/// Words that are typed join the heads of the document, so people who write at the same time cause a handful. A hostile
/// guest can bring thousands of changes that know nothing of each other. Messages name the heads, and a peer refuses a
/// message that names too many.
@AutomergeRepo
enum HeadMerging {
  /// Source: PeerProtocol.md, "Expensive changes".
  static let maximumHeads = 256

  /// Merges the document's heads from now on whenever there are too many.
  static func watch(_ handle: DocHandle, _ environment: ServiceEnvironment) {
    merge(handle, environment)
    handle.observe { [weak handle, weak environment] event in
      if case .headsChanged = event, let handle, let environment { merge(handle, environment) }
    }
  }

  private static func merge(_ handle: DocHandle, _ environment: ServiceEnvironment) {
    guard isDue(handle, environment) else { return }
    // An observer must not change the document.
    Task { @AutomergeRepo in if isDue(handle, environment) { handle.mergeHeads() } }
  }

  /// A change that the host would refuse is not made here.
  private static func isDue(_ handle: DocHandle, _ environment: ServiceEnvironment) -> Bool {
    handle.headCount > maximumHeads && environment.mayWrite(handle.id)
  }
}

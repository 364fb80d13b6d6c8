import AutomergeRepo

/// Reports once how a call went.
package typealias LinkAttempt = @AutomergeRepo (Result<PeerId, PeerNetworkError>) -> Void

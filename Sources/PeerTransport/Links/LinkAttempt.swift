import AutomergeRepo

/// Reports the outcome of a call, once.
package typealias LinkAttempt = @AutomergeRepo (Result<PeerId, PeerNetworkError>) -> Void

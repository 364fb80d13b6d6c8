import AutomergeRepo
import Foundation
import PeerTransport
import UV

/// Why a provider of nearby peers does not listen, or has not connected.
public enum PeerToPeerError: Error, Hashable, Sendable {
  /// Add the provider to a repo before it listens.
  case notAddedToARepo
  case notListening
  case unknownPeer(PeerId)
  /// The peer does not know the passcode, or knows another one.
  case wrongPasscode(PeerId)
  case network(PeerNetworkError)
  case unavailable(reason: String)
}

extension PeerToPeerError: LocalizedError, CustomStringConvertible {
  /// One sentence, that can be shown to a person.
  public var description: String {
    switch self {
    case .notAddedToARepo: "The provider belongs to no repo yet."
    case .notListening: "The provider does not listen."
    case .unknownPeer(let peer): "There is no peer \(peer) nearby."
    case .wrongPasscode: "The peer has another passcode."
    case .network(let error): error.description
    case .unavailable(let reason): "The network cannot be used: \(reason)"
    }
  }

  public var errorDescription: String? { description }
}

import AutomergeRepo
import Foundation
import Logging
import PeerTransport

/// How a program connects to the peers nearby.
public struct PeerToPeerProviderConfiguration: Sendable {
  /// The passcode that all peers of a group know. Nil admits every peer; a share policy can still distinguish them by
  /// their keys.
  public var passcode: String?
  /// Our key, by which peers recognise us. By default a new random one for one run of the program; `IdentityFile`
  /// stores one.
  public var identity: Identity
  /// Whether an outgoing connection that breaks is made again, after increasing pauses, until `disconnect`.
  public var reconnectOnError: Bool
  /// Whether peers are called as soon as they are discovered.
  public var autoconnect: Bool
  /// The service's kind in DNS-SD: programs with the same kind see each other.
  public var service: String
  /// Where to listen. Host `*` means all of this machine's addresses, port 0 a free one.
  public var address: PeerAddress
  /// Whether to announce ourselves on the local network and to look for others.
  public var isDiscoverable: Bool
  /// How long a peer may take to prove that it knows the passcode.
  public var waitForPeerTimeout: Duration
  public var logger: Logger

  public init(
    passcode: String? = nil, identity: Identity = Identity(), reconnectOnError: Bool = true, autoconnect: Bool = true,
    service: String = "_automerge-p2p._tcp", address: PeerAddress = PeerAddress(host: "*", port: 0),
    isDiscoverable: Bool = true, waitForPeerTimeout: Duration = .seconds(5), logger: Logger = Logger(label: "peers")
  ) {
    (self.passcode, self.identity) = (passcode, identity)
    (self.reconnectOnError, self.autoconnect) = (reconnectOnError, autoconnect)
    (self.service, self.address, self.isDiscoverable) = (service, address, isDiscoverable)
    (self.waitForPeerTimeout, self.logger) = (waitForPeerTimeout, logger)
  }

  /// A name for this machine, to be shown to people nearby.
  public static func defaultSharingIdentity() -> String {
    KnownPeer.clean(ProcessInfo.processInfo.hostName) ?? "Automerge"
  }
}

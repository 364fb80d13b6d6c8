/// This person's decision about a peer.
public enum PeerTrust: String, CaseIterable, Sendable { case trusted, blocked, forgotten }

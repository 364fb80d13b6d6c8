import AutomergeRepo
import PeerTransport

/// One attempt to reach a peer at several addresses: each gets a head start on the next, and the first that answers wins.
///
/// Other calls in progress are not cancelled when one has won: their owner sees that the peer is connected.
@AutomergeRepo
final class Dialing {
  private let addresses: [PeerAddress]
  private var done: TCPProvider.Attempt?
  private var next = 0
  private var underWay = 0
  private var lastFailure = PeerNetworkError.badAddress("")
  private var timer: (any ScheduledAction)?

  init(addresses: [PeerAddress], done: @escaping TCPProvider.Attempt) {
    (self.addresses, self.done) = (addresses, done)
  }

  /// - Parameter call: calls one address and reports once, perhaps at once.
  func start(
    clock: any RepoClock, call: @escaping @AutomergeRepo (PeerAddress, @escaping TCPProvider.Attempt) -> Void
  ) {
    guard done != nil else { return }
    guard next < addresses.count else {
      if underWay == 0 { finish(.failure(lastFailure)) }
      return
    }
    let address = addresses[next]
    next += 1
    underWay += 1
    timer = clock.schedule(after: TCPProvider.dialStagger) { self.start(clock: clock, call: call) }
    call(address) { result in
      self.underWay -= 1
      switch result {
      case .success: self.finish(result)
      case .failure(let error):
        self.lastFailure = error
        self.timer?.cancel()
        self.start(clock: clock, call: call)
      }
    }
  }

  private func finish(_ result: Result<PeerId, PeerNetworkError>) {
    timer?.cancel()
    done?(result)
    done = nil
  }
}

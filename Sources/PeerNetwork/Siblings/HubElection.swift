import AutomergeRepo

/// Carries out the election of the hub for this process: holds the lock, and tries again after a pause.
@AutomergeRepo
final class HubElection {
  /// The tasks of the provider.
  enum Task {
    /// Call the hub, and answer with `reached` or `failed`.
    case call
    /// Listen: this process is the hub.
    case listen
  }

  /// Nil until started and after stopping.
  private var perform: (@AutomergeRepo (Task) -> Void)?
  private let socket: SiblingSocket
  private let clock: any RepoClock
  private var election = SiblingElection()
  private var lock: FileLock?
  private var timer: (any ScheduledAction)?

  init(_ socket: SiblingSocket, clock: any RepoClock) { (self.socket, self.clock) = (socket, clock) }

  var isHub: Bool { election.isHub }

  func start(perform: @escaping @AutomergeRepo (Task) -> Void) {
    self.perform = perform
    tell(.started)
  }

  /// Releases the lock.
  func stop() {
    perform = nil
    timer?.cancel()
    lock = nil
  }

  func tell(_ event: SiblingElection.Event) {
    guard let perform else { return }
    for effect in election.receive(event) {
      switch effect {
      case .tryLock:
        lock = socket.tryLock()
        tell(lock == nil ? .refused : .locked)
      case .call: perform(.call)
      case .listen: perform(.listen)
      case .startTimer(let pause):
        timer = clock.schedule(after: pause) { [weak self] in self?.tell(.timerFired) }
      }
    }
  }
}

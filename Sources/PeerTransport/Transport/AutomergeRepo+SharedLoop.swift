import AutomergeRepo
import UV

extension AutomergeRepo {
  /// The event loop for the networks of a program without a loop of its own. Once this returns, the actor runs on the
  /// loop, to the end of the process. A program with a loop installs that as the executor, and passes it to its
  /// networks.
  @AutomergeRepo
  public static func sharedLoop() async throws(UVError) -> Loop {
    let loop = try Loop.shared()
    AutomergeRepo.install(executor: loop)
    // The executor takes over when the current job has ended.
    while !loop.isOnLoop { await Task.yield() }
    return loop
  }
}

import AutomergeRepo
import UV

extension AutomergeRepo {
  /// The event loop for the networks of a program that has no loop of its own. The actor runs on it once this returns, to the end
  /// of the process. A program with a loop installs that as the executor, and hands it to its networks.
  @AutomergeRepo
  public static func sharedLoop() async throws(UVError) -> Loop {
    let loop = try Loop.shared()
    AutomergeRepo.install(executor: loop)
    // The executor takes over when the present job has ended.
    while !loop.isOnLoop { await Task.yield() }
    return loop
  }
}

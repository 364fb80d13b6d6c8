/// What goes wrong beside the steps of a run. A fault happens only if the run asks for it, and has its own random
/// stream, so a seed without it gives the same run as before.
public enum Fault: String, CaseIterable, Sendable {
  /// The network silently loses what one machine sends to another for a while; then the connection ends.
  case oneWayLoss
  /// Messages from one machine to another take seconds.
  case delay
  /// A connection breaks and is restored at once: messages in transit are sent twice, and some arrive twice.
  case resending
  /// A person's machine sleeps.
  case sleep
  /// The calendar of a person's machine jumps, by up to a year.
  case clockJump
  /// An editor takes up to half a second to read each message.
  case slowEditor
  /// An editor reads nothing for seconds.
  case hungEditor
  /// A person's store refuses all writes for seconds; in two of three cases the rest of the disk does, too. The service
  /// then warns that words may appear twice if it is killed, and the run does not kill it.
  case failingDisk
  /// A person's machine loses its power: services and editors end, and journals keep any part of what was not synced.
  case powerLoss
  /// A peer without a grant asks for the note and sends nonsense.
  case stranger
  /// A person undoes what they typed or deleted.
  case undo

  /// Faults that the program does not survive yet. While a person's store refuses writes, another service that opens
  /// the note before the two are connected does not know what the working file contained. It takes words for another
  /// program's although the note has them already: they appear twice, or return after they were deleted. `Tests/ledger.py` reads
  /// this line.
  public static let unmended: Set<Fault> = [.failingDisk]
}

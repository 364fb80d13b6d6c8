import AutomergeRepo

/// A caller that waits for the next step of an invitation.
struct PendingInvitation {
  /// The time limit for the other machine.
  static let deliveryTimeout: Duration = .seconds(10)
  /// After this person has accepted: how long the other person may take to compare the digits before this person sees
  /// that they have to wait.
  static let grantTimeout: Duration = .seconds(60)

  enum Outcome {
    /// The other side has taken the step.
    case done
    /// The other side has not taken it in time, or has withdrawn.
    case over
    /// The other side has taken it, but in the meantime the document came here from elsewhere.
    case alreadyHere
  }

  let reply: OneReply<Outcome>
  let timer: any ScheduledAction
}

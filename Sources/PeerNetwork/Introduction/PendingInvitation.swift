import AutomergeRepo

/// A caller that waits for the next step of an invitation.
struct PendingInvitation {
  /// The time limit for the other machine.
  static let deliveryTimeout: Duration = .seconds(10)
  /// How long the other person may take to compare the digits before this person, having accepted, sees that they have
  /// to wait.
  static let grantTimeout: Duration = .seconds(60)

  enum Outcome {
    /// The other side has taken the step.
    case done
    /// The other side has not taken it in time, or has withdrawn.
    case over
    /// The other side has taken it, but the document came here from elsewhere meanwhile.
    case alreadyHere
  }

  let reply: OneReply<Outcome>
  let timer: any ScheduledAction
}

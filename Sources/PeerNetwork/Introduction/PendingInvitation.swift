import AutomergeRepo

/// A caller that waits for the next step of an invitation.
struct PendingInvitation {
  /// The time limit for the other machine.
  static let deliveryTimeout: Duration = .seconds(10)
  /// How long the other person may take to compare the digits before this person, having accepted, sees that they have
  /// to wait.
  static let grantTimeout: Duration = .seconds(60)

  let reply: OneReply<Bool>
  let timer: any ScheduledAction
}

import AutomergeRepo
import JSONRPC

/// An invitation that waits for this person's answer, as an editor asks about it.
///
/// The digits come first in the line and in the choice: other people write what follows them, so digits there prove nothing.
struct InvitationQuestion {
  private let invitation: InvitationSummary

  init(_ invitation: InvitationSummary) { self.invitation = invitation }

  private var name: String { OneLine.shown(invitation.name) }

  /// The question, without the digits.
  private var title: String {
    let title = OneLine.shown(invitation.title ?? "a note")
    if invitation.direction == .sent { return "\(name) accepted \"\(title)\"" }
    if invitation.isNameShared { return "WARNING: \(name) is not who you met" }
    return "\(name) invites you to \"\(title)\"" + (invitation.access == .read ? " (read-only)" : "")
  }

  var json: JSONValue {
    .object(present: [
      "invitation": .string(invitation.invitation), "name": .string(name), "title": .string(title),
      "line": .string(Self.digits(invitation).map { $0 + "  " + title } ?? title),
      "choices": .array(choices.map(\.json)),
    ])
  }

  /// A choice, and the answer that it stands for.
  private struct Choice {
    let label: String
    let accepts: Bool
    var blocks = false
    /// The message afterwards; nil if the note opens.
    var message: String?
    /// What to show until the note opens, and what after a while.
    var waiting: (now: String, later: String)?

    var json: JSONValue {
      var members: JSONObject = ["label": .string(label), "accept": .bool(accepts)]
      if blocks { members["block"] = true }
      if let message { members["message"] = .string(message) }
      if let waiting { (members["waiting"], members["still"]) = (.string(waiting.now), .string(waiting.later)) }
      return .object(members)
    }
  }

  private var choices: [Choice] {
    let digits = Self.digits(invitation)
    if invitation.direction == .sent {
      return [
        Choice(label: "\(digits ?? "") on both screens: share", accepts: true, message: "Shared"),
        Choice(label: "another code, or none: cancel", accepts: false, message: "Cancelled; nothing was shared"),
      ]
    }
    return [
      // The other person compares the digits now, perhaps on the telephone.
      Choice(
        label: digits.map { $0 + " on both screens: accept" } ?? "accept", accepts: true,
        waiting: (
          "Waiting for \(name)" + (digits.map { " to confirm \($0)" } ?? ""),
          "No answer yet; the note opens when \(name) confirms" + (digits.map { " " + $0 } ?? "")
        )),
      Choice(label: "decline", accepts: false, message: "Declined"),
      Choice(label: "block \(name)", accepts: false, blocks: true, message: "Blocked \(name)"),
    ]
  }

  /// The line when there is nothing to answer; the last invitation that this person sent, if any.
  static func noneIsOpen(_ sent: InvitationSummary?) -> String {
    guard let sent else { return "No invitations" }
    let line = OneLine.shown(sent.name) + " has not accepted yet"
    return digits(sent).map { "Code \($0): " + line } ?? line
  }

  /// The six digits as people read them.
  private static func digits(_ invitation: InvitationSummary) -> String? { invitation.code.map(spaced) }

  static func spaced(_ code: String) -> String { code.prefix(3) + " " + code.dropFirst(3) }
}

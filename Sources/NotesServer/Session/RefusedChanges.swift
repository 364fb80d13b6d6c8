import AutomergeRepo
import Foundation

/// Handles typing into a note that this person may only read: does not change the document, sends the client the former
/// text, and keeps the words where the person can find them.
@AutomergeRepo
final class RefusedChanges {
  /// How long to wait for more of the same before telling the person.
  private static let tellDelay: Duration = .milliseconds(300)

  private unowned let binding: BufferBinding
  private var typing = RefusedTyping()
  /// The text to report to the person, and the timer.
  private var pending: (text: RecoveredText, timer: any ScheduledAction)?

  init(_ binding: BufferBinding) { self.binding = binding }

  /// The client has made these changes, and the document refuses them.
  ///
  /// - Parameter before: the client's text before it made them
  func refuse(_ splices: [TextSplice], before: [UInt8]) {
    let service = binding.service
    defer { service.journal.clientHas(binding.place) }
    guard !splices.isEmpty else { return }
    binding.buffer.documentChanged(by: TextDelta(splices, in: binding.source.allUTF8).inverted)
    let text = binding.clientText
    let recovered = RecoveredText(
      id: binding.id, itemTitle: service.notebook.itemTitle(of: binding.key),
      stamp: typing.take(before: before, after: text, stamp: service.recoveredTexts.newStamp()),
      reason: "it was typed into a note that you may only read", text: text)
    pending?.timer.cancel()
    // An earlier text that does not grow into this one is reported like any other that is kept.
    if let earlier = pending?.text, earlier.stamp != recovered.stamp { service.recoveredTexts.leave(earlier) }
    service.recoveredTexts.expect(recovered)
    Task { @AutomergeRepo in _ = await service.recoveredTexts.keepOrHold(recovered) }
    let timer = service.clock.schedule(after: Self.tellDelay) { [weak binding] in
      if let binding { binding.refused.tell(of: recovered) } else { service.recoveredTexts.leave(recovered) }
    }
    pending = (recovered, timer)
    binding.updates.sendEdit()
    binding.updates.textChanged()
  }

  private func tell(of recovered: RecoveredText) {
    pending = nil
    let title = binding.service.notebook[binding.key]?.title ?? ""
    Task { @AutomergeRepo [binding] in
      guard let path = await binding.service.recoveredTexts.write(recovered, title: title) else {
        return binding.service.recoveredTexts.leave(recovered)
      }
      binding.editor.news.refused(binding.key, uri: binding.uri, recovered, path: path)
    }
  }
}

/// Recognises which refused texts of a client are stages of one, which grows as the person types.
struct RefusedTyping {
  private var last: (stamp: RecoveredText.Stamp, text: [UInt8])?

  /// Call when refused typing has changed the client's text from `before` to `after`.
  ///
  /// - Parameter stamp: an unused one
  /// - Returns: the stamp of the kept text; the same as before if that is a stage of `after`
  mutating func take(before: [UInt8], after: [UInt8], stamp: RecoveredText.Stamp) -> RecoveredText.Stamp {
    let stamp = last.flatMap { $0.text == before ? $0.stamp : nil } ?? stamp
    last = (stamp, after)
    return stamp
  }
}

import AutomergeRepo

/// Compares a large full text with the client's earlier one off the loop, which the comparison would block for a tenth
/// of a second.
///
/// Meanwhile nothing is sent to the client, and its messages wait. Its earlier text stays the base: other people's changes are
/// applied after it. Code that needs the client's text at once calls `finishComparing`.
extension BufferBinding {
  /// A full text that is being compared, and the messages that arrived after it.
  @AutomergeRepo
  final class Comparison {
    let version: Int
    let rev: Int?
    let text: [UInt8]
    var waiting: [@AutomergeRepo (BufferBinding) -> Void] = []

    init(version: Int, rev: Int?, text: [UInt8]) { (self.version, self.rev, self.text) = (version, rev, text) }
  }

  /// A full text of at least this size is compared off the loop.
  static let minimumBytesOffLoop = 16 << 10

  var isComparing: Bool { comparison != nil }

  func didChange(version: Int, rev: Int?, changes: [ContentChange]) {
    if comparison != nil { return whenCompared { $0.didChange(version: version, rev: rev, changes: changes) } }
    guard changes.count == 1, case .fullText(let text)? = changes.first, text.count >= Self.minimumBytesOffLoop else {
      return takeIn(version: version, rev: rev, changes: changes)
    }
    let before = buffer.textBefore(fullTextWith: rev, source: source)
    let begun = Comparison(version: version, rev: rev, text: text)
    comparison = begun
    Task { @AutomergeRepo in
      let difference = await TextDiff.offLoop(from: before, to: text)
      guard comparison === begun else { return }
      end(.difference(difference))
    }
  }

  /// Runs the action at once if no full text is being compared, otherwise after that.
  func whenCompared(_ action: @escaping @AutomergeRepo (BufferBinding) -> Void) {
    if comparison == nil { action(self) } else { comparison?.waiting.append(action) }
  }

  /// Finishes on the loop a comparison that is running off it.
  func finishComparing() {
    while let comparison { end(.fullText(comparison.text)) }
  }

  private func end(_ change: ContentChange) {
    guard let done = comparison else { return }
    comparison = nil
    takeIn(version: done.version, rev: done.rev, changes: [change])
    // One of them may be a full text again, for which the rest wait.
    for action in done.waiting { whenCompared(action) }
  }
}

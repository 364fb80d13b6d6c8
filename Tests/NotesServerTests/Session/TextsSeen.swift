import AutomergeRepo

@testable import NotesServer

/// The texts that a note has had since it is looked at.
@AutomergeRepo
final class TextsSeen {
  private(set) var all: [String] = []
  private var observation: Observation?

  init(of note: WatchedNote) {
    observation = note.handle.observe { [weak self] _ in
      guard let self, let text = note.text, self.all.last != text else { return }
      self.all.append(text)
    }
  }
}

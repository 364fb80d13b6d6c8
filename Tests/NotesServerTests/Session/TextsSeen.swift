import AutomergeRepo

@testable import NotesServer

/// The texts that a note has had since the test began to observe it.
@AutomergeRepo
final class TextsSeen {
  private(set) var all: [String] = []
  private var last: String?
  private var observation: Observation?

  init(of note: WatchedNote) {
    last = note.text
    observation = note.handle.observe { [weak self] _ in
      guard let self, let text = note.text, self.last != text else { return }
      self.last = text
      self.all.append(text)
    }
  }
}

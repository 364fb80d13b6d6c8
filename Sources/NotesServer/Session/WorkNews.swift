import AutomergeRepo

/// Shows work that takes a while in a plain client: opening a note, and receiving its changes. Clients with a plugin
/// show the status and events instead.
@AutomergeRepo
final class WorkNews {
  private let editor: Editor
  private var progress = WorkProgress()
  private var timer: (any ScheduledAction)?

  private var isShown: Bool { editor.isRunning && editor.client.showsProgress && !editor.client.speaksNotes }

  init(_ editor: Editor) { self.editor = editor }

  /// Call when the work on a buffer may have begun, advanced or ended.
  func look(at uri: String) {
    guard isShown else { return }
    tell(.work(work(on: uri), of: uri))
  }

  /// Call when buffers have been opened, attached or closed: work on them may have ended.
  func buffersChanged() {
    guard !progress.isIdle else { return }
    for uri in progress.uris { look(at: uri) }
  }

  /// Call when the editor ends the session.
  func end() { tell(.ended) }

  // MARK: The present work

  private func work(on uri: String) -> WorkProgress.Work? {
    switch editor.buffers[uri] {
    case .opening(let opening):
      guard !opening.isClosed, opening.isSlow || opening.waitsFor != nil else { return nil }
      return .opening(title(of: opening.key), waitsFor: opening.waitsFor)
    case .attached(let binding):
      return .receiving(title(of: binding.key), from: NoteStatus(of: binding).people)
    case .plain, nil: return nil
    }
  }

  private func title(of key: NoteKey) -> String {
    editor.service.notebook[key]?.title ?? editor.service.title(of: key.document)
  }

  // MARK: Messages

  private func tell(_ event: WorkProgress.Event) {
    for message in progress.receive(event, at: editor.service.clock.now) { send(message) }
    timer?.cancel()
    timer = progress.nextTime.map { time in
      editor.service.clock.schedule(after: max(.zero, time - editor.service.clock.now)) { [weak self] in
        self?.tell(.timePassed)
      }
    }
  }

  private func send(_ message: WorkProgress.Message) {
    switch message {
    case .create(let token):
      editor.ask(CreateProgressRequest(token: token)) { [weak self] isAccepted in
        self?.tell(.answered(isAccepted: isAccepted))
      }
    case .begin(let token, let work): editor.notify(ProgressNotification(token: token, state: .begin(work)))
    case .report(let token, let work): editor.notify(ProgressNotification(token: token, state: .report(work)))
    case .end(let token): editor.notify(ProgressNotification(token: token, state: .end))
    }
  }
}

import AutomergeRepo
import Foundation
import JSONRPC
import Logging

/// Keeps texts that would be lost otherwise, and remembers whether the person has been told of them.
///
///     stored with a mark ──an editor was told──► stored
///
/// The mark stays if no editor could be told: the process was killed, or had none. This person's next editor then tells.
@AutomergeRepo
final class RecoveredTexts {
  private static let collection = "untold"
  /// How long to wait for further texts before the person is told.
  static let tellDelay: Duration = .milliseconds(300)
  /// By this time a living process has told its own editor.
  static let startDelay: Duration = .seconds(1)

  private unowned let service: Service
  private var planned: (any ScheduledAction)?
  /// Whether an editor is attached that shows notices.
  var hasEditor: () -> Bool = { false }
  /// Called with the parameters of a `notes/event` for that editor.
  var onNews: ((JSONValue) -> Void)?
  private let log = Logger(label: "notes")

  init(service: Service) { self.service = service }

  private static func mark(_ text: RecoveredText) -> StorageKey {
    [collection, text.id.description, String(text.time)]
  }

  /// The keys to remove when a note is removed for good.
  static func marks(of id: DocumentId) -> StorageKey { [collection, id.description] }

  /// Stores a text. Afterwards the caller either tells the person and calls `told`, or calls `tellSoon`.
  func keep(_ text: RecoveredText) async throws(StorageError) {
    try await service.notebook.storage.commit([
      .save(text.item), .save(StoredItem(key: Self.mark(text), data: Data([1]))),
    ])
  }

  /// Call when the person has been told of this text.
  func told(_ text: RecoveredText) {
    Task { @AutomergeRepo in await forget([Self.mark(text)]) }
  }

  private func forget(_ marks: [StorageKey]) async {
    do {
      try await service.notebook.storage.commit(marks.map { .remove($0) })
    } catch {
      log.warning("A recovered text may be announced twice: \(error)")
    }
  }

  /// Tells the person of every recovered text that no editor has mentioned yet, here or in another process.
  func tellSoon(after delay: Duration = tellDelay) {
    // A process without an editor may end at any moment.
    guard hasEditor() else { return service.siblingEvents.tell(["kind": .string(Self.collection)]) }
    guard planned == nil else { return }
    planned = service.clock.schedule(after: delay) { [weak self] in
      self?.planned = nil
      Task { @AutomergeRepo in await self?.tell() }
    }
  }

  /// Takes another process's request to tell the person, if there is an editor here.
  func heard(_ event: JSONValue) -> Bool {
    guard event["kind"] == .string(Self.collection) else { return false }
    if hasEditor() { tellSoon(after: .zero) }
    return true
  }

  private func tell() async {
    guard hasEditor() else { return }
    guard service.isLoaded, let claim = service.files.claim(Self.collection, exclusively: true) else {
      return tellSoon(after: Self.startDelay)
    }
    defer { withExtendedLifetime(claim) {} }
    do {
      let marks = try await service.notebook.storage.loadRange([Self.collection]).map(\.key).filter { $0.count == 3 }
      guard let first = marks.first else { return }
      let event = try await marks.count == 1 ? news(ofTextAt: first) : news(ofTexts: marks.count)
      guard hasEditor() else { return }
      if let event { onNews?(event) }
      await forget(marks)
    } catch {
      log.error("Recovered texts could not be announced: \(error)")
    }
  }

  private func news(ofTextAt mark: StorageKey) async throws -> JSONValue? {
    let key = [RecoveredText.collection] + mark.dropFirst()
    guard let data = try await service.notebook.storage.load(key),
      let text = RecoveredText(StoredItem(key: key, data: data))
    else { return nil }
    let title = service.notebook[text.id]?.title ?? text.id.description
    var event = Self.event("a copy of \"\(NoteNews.cut(title, to: Self.longestTitle))\"")
    event["id"] = .string(text.id.description)
    event["uri"] = service.notebook[text.id]?.path.map { .string(FileURI.uri(path: $0)) }
    event["recovered"] = await service.write(text, title: title).map(JSONValue.string)
    return .object(event)
  }

  private func news(ofTexts count: Int) -> JSONValue { .object(Self.event("copies of \(count) texts")) }

  /// Leaves room in a message for "M-x notes-recovered has" and the copy's name.
  private static let longestTitle = 24

  private static func event(_ copy: String) -> JSONObject {
    ["kind": "recovered", "copy": .string(copy), "message": .string("Kept as recovered: \(copy)")]
  }
}

import AutomergeRepo
import JSONRPC

/// `notes/recovered`: every text that an overwrite would have lost, newest first, as files.
struct RecoveredRequest: EditorRequest {
  static let method = "notes/recovered"

  init(_ params: Parameters) {}

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let kept = try await service.repo.storage?.loadRange([RecoveredText.collection]) ?? []
    var texts: [Text] = []
    for text in kept.compactMap(RecoveredText.init).sorted(by: { $0.stamp.time > $1.stamp.time }) {
      let title = text.title(in: service.notebook)
      let path = RecoveredText.path(title: title, stamp: text.stamp, in: service.notesDirectory)
      _ = try await service.files.create(path, text.text)
      texts.append(Text(id: text.id, title: title, time: text.stamp.time, reason: text.reason, path: path))
    }
    return Result(texts: texts)
  }

  struct Text {
    let id: DocumentId
    let title: String
    /// Milliseconds since 1970.
    let time: Int
    let reason: String
    let path: String

    var json: JSONValue {
      [
        "id": .string(id.description), "title": .string(title), "time": JSONValue(time), "reason": .string(reason),
        "path": .string(path),
      ]
    }
  }

  struct Result: RequestResult {
    let texts: [Text]

    var json: JSONValue { ["texts": .array(texts.map(\.json))] }
  }
}

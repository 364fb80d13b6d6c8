import AutomergeRepo
import Logging

/// Keeps the text of a buffer whose note did not arrive as a recovered text, unless its file has it.
@AutomergeRepo
struct UnmergedText {
  let key: BufferKey
  /// UTF-8.
  let text: [UInt8]

  init(_ opening: Opening, uri: String) {
    (key, text) = (BufferKey(opening.key, uri: uri), opening.plain.text)
  }

  /// Returns when the text is stored.
  func keep(in service: Service) async {
    do {
      if try await isInFile(service) { return service.journal.keptLeft(key) }
      try await service.recoveredTexts.keep(
        RecoveredText(
          id: key.document, itemTitle: service.notebook.itemTitle(of: key.note),
          stamp: service.recoveredTexts.newStamp(),
          reason: "the editor was closed before the note arrived", text: text))
      service.recoveredTexts.tellSoon()
      service.journal.keptLeft(key)
    } catch {
      Logger(label: "notes").error("The text of a note that did not arrive could not be kept: \(error)")
    }
  }

  private func isInFile(_ service: Service) async throws -> Bool {
    guard !text.isEmpty else { return true }
    guard let path = service.notebook[key.note]?.path, let bytes = try await service.files.read(path) else {
      return false
    }
    return await FileContents.holds(bytes, text)
  }
}

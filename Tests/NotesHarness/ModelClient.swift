import Foundation
import JSONRPC

/// A model buffer whose service is a process.
public final class ModelClient: ModelBuffer {
  public private(set) var process: NotesProcess

  /// Opens the note's working file in the buffer.
  ///
  /// - Parameter text: what the file held when the editor read it, if that is not what it holds now.
  public init(
    _ process: NotesProcess, note: JSONValue, encoding: PositionEncoding = .utf8, version: Int = 1, text: String? = nil
  ) throws {
    guard let uri = note["uri"]?.stringValue, let id = note["id"]?.stringValue, let path = note["path"]?.stringValue
    else { throw NotesProcess.Refusal(method: "open", error: note) }
    self.process = process
    super.init(
      uri: uri, id: id, text: try text ?? String(contentsOfFile: path, encoding: .utf8), encoding: encoding,
      version: version)
    attach(reattach: false)
  }

  /// Continues with another process after the last one has died.
  public func reattach(to process: NotesProcess) {
    self.process = process
    attach(reattach: true)
  }

  private func attach(reattach: Bool) {
    process.onNotification = { [weak self, uri, before = process.onNotification] method, params in
      // Another buffer of the same editor may be open.
      if let other = params["uri"]?.stringValue, other != uri { return before(method, params) }
      self?.receive(method, params)
    }
    attach(to: process.run, reattach: reattach) { [process] method, params in process.notify(method, params) }
  }
}

import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// The end of a random test: all editors show the same text, and their services have proved that they know it.
enum EqualBuffers {
  /// Waits until all buffers are equal and the services have proved that they know them; returns their text.
  static func wait(for editors: [any EditorUnderTest]) throws -> String {
    var states: [EditorState] = []
    do {
      try editors[0].session.wait(for: "equal buffers") {
        states = try editors.compactMap { try $0.state() }
        guard states.count == editors.count, let text = states.first?.text.utf8 else { return false }
        guard states.allSatisfy({ $0.isSynced && $0.text.utf8.elementsEqual(text) }) else { return false }
        return try editors.allSatisfy { try $0.session.proves(text: Array(text)) }
      }
    } catch {
      throw ProcessError.timedOut(waitingFor: "equal buffers", details: "\(difference(of: states))\n\(error)")
    }
    return states.first?.text ?? ""
  }

  /// Where the texts begin to differ, and the state of each editor.
  private static func difference(of states: [EditorState]) -> String {
    let progress = states.map {
      "version \($0.version), rev \($0.rev), \($0.isSynced ? "synced" : "not synced"), \($0.text.utf8.count) bytes"
    }.joined(separator: "; ")
    guard let first = states.first, let other = states.first(where: { !$0.text.utf8.elementsEqual(first.text.utf8) })
    else { return progress }
    let (one, two) = (Array(first.text.unicodeScalars), Array(other.text.unicodeScalars))
    let place = zip(one, two).prefix { $0 == $1 }.count
    let parts = [one, two].map { text in
      var part = String.UnicodeScalarView()
      part.append(contentsOf: text[max(0, place - 30)..<min(text.count, place + 60)])
      return String(part).debugDescription
    }
    return progress + "; equal up to scalar \(place), then " + parts.joined(separator: " and ")
  }
}

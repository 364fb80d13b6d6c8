import Automerge
import AutomergeRepo
import JSONRPC

/// Carets: sends this person's to the peers, and other people's to the client.
///
/// A caret is sent as a cursor on the character after it, so that typing there moves it along: it stays after the last
/// letter typed, without another message. If *others* type at exactly that place, an editor keeps its own caret before
/// the new letters, and then reports it again.
///
/// Every change of the text may change the offset of such a cursor. Clients move the carets that they show by the same
/// rule while this person types plainly; after any other change the service sends them a new list.
extension BufferBinding {
  func cursor(version: Int, rev: Int, ranges: [PositionRange]) {
    do {
      guard try buffer.acknowledge(version: version, rev: rev) else { return }
    } catch {
      return resync(error.contradiction.reason)
    }
    let text = source
    let places = ranges.map { range in
      (
        buffer.documentOffset(ofClient: range.start, source: text),
        buffer.documentOffset(ofClient: range.end, source: text)
      )
    }
    service.presenceTracker.moved(to: places, in: note, of: id)
  }

  /// Sends the client other people's carets, at their places in the client's text.
  func sendCursors() {
    guard buffer.gate == .notes else { return }
    editor.notify(
      CursorsNotification(uri: uri, version: buffer.version, rev: buffer.expectedRev, peers: others))
  }

  /// Other people's carets and selections, at their places in the client's text.
  var others: [CursorsNotification.Peer] {
    let text = source
    return service.presenceTracker.people(in: id).map { person in
      let ranges = service.presenceTracker.ranges(of: person, in: note).map { start, end in
        PositionRange(
          start: buffer.clientPosition(ofDocument: start, source: text),
          end: buffer.clientPosition(ofDocument: end, source: text))
      }
      return CursorsNotification.Peer(person: person, ranges: ranges)
    }
  }

  /// Shows a part of the text to the other people.
  func point(version: Int, rev: Int, range: PositionRange, text: String) throws {
    do {
      guard try buffer.acknowledge(version: version, rev: rev) else { return }
    } catch {
      return resync(error.contradiction.reason)
    }
    let place = documentRange(of: range)
    service.presenceTracker.point(at: (place.lowerBound, place.upperBound), in: note, of: id, text: text)
  }

  /// Another person points here. Places that this document does not know are ignored.
  func pointed(by person: Presence.Person, _ range: CursorRange, _ text: String) {
    guard buffer.gate == .notes, let place = service.presenceTracker.offsets(of: [range], in: note).first else {
      return
    }
    let source = source
    let shown = PositionRange(
      start: buffer.clientPosition(ofDocument: place.0, source: source),
      end: buffer.clientPosition(ofDocument: place.1, source: source))
    editor.news.pointed(at: shown, of: self, by: person, text)
  }

  /// Call when other people's carets may have moved from where the client shows them.
  func caretsMayHaveMoved() {
    guard buffer.gate == .notes else { return }
    service.presenceTracker.textChanged(in: id)
  }

  /// Whether the client, which had the document's text, moved all carets for its change just as the document did. That
  /// is so for a single plain insertion or deletion that touches none of them.
  ///
  /// - Complexity: O(p · log n) for p carets of other people
  func clientCarriesCarets(over splices: [TextSplice], from changes: [ContentChange]) -> Bool {
    let places = service.presenceTracker.places(in: id)
    guard !places.isEmpty else { return true }
    guard splices.count == 1, let splice = splices.first, changes.count == 1,
      case .replace(let range, let text)? = changes.first,
      splice.deleteUTF8 == 0 ? range.start == range.end : text.isEmpty && splice.insert.isEmpty,
      text.count == splice.insert.count
    else { return splices.isEmpty }
    let touched = splice.utf8Offset...(splice.utf8Offset + splice.insert.count)
    return !service.presenceTracker.offsets(of: places, in: note).contains {
      touched.contains($0) || touched.contains($1)
    }
  }
}

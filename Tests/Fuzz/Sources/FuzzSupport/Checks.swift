import Automerge
import Foundation

/// What must hold of every document, whatever made it: what it saves can be read again and is the same document.
public func check(_ document: Document) {
  let saved = document.save()
  guard let again = try? Document(saved) else { preconditionFailure("a saved document cannot be loaded") }
  precondition(again.heads() == document.heads(), "a loaded document has other heads than the one that was saved")
  precondition(again.save() == saved, "a loaded document saves other bytes")
}

/// A document with some of everything, to which foreign changes are applied.
public func exampleDocument() -> Document {
  let document = Document()
  document.actor = ActorId(data: Data([0xaa])) ?? document.actor
  do {
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "hello wörld")
    document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    try document.spliceText(obj: text, start: 2, delete: 4, value: nil)
    try document.put(obj: .ROOT, key: "counter", value: .Counter(3))
    _ = try document.putObject(obj: .ROOT, key: "map", ty: .Map)
    document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
  } catch {
    preconditionFailure("the example is a valid document: \(error)")
  }
  return document
}

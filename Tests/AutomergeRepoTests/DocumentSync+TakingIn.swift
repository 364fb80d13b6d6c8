import Automerge

@testable import AutomergeRepo

extension DocumentSync {
  /// What follows from an event, with what is said to the peers once the edits are delivered.
  mutating func takeIn(_ event: Event, document: Document) -> [Effect] {
    var effects: [Effect] = []
    for effect in receive(event, document: document) {
      if case .answer(let peer) = effect {
        effects += receive(.delivered(from: peer), document: document)
      } else {
        effects.append(effect)
      }
    }
    return effects
  }
}

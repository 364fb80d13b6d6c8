import Automerge
import AutomergeRepo
import Foundation

/// Records when something goes wrong: the end of a run shows only that it did.
extension Simulation {
  /// Notes, each once, the words that appear twice, the lines that are no words, and the deleted words that have
  /// returned, in the document of any service.
  func noteTroubles() {
    for service in people.flatMap(\.services) {
      let lines = service.documentText(id).split(separator: "\n").map(String.init)
      let counts = Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +)
      for (line, count) in counts.sorted(by: { $0.key < $1.key }) where count > 1 {
        noteTrouble("\(line) stands twice", in: service)
      }
      for line in lines where !words.contains(line) && !deleted.contains(line) && !injector.uncertain.contains(line) {
        noteTrouble("\(line) is no word", in: service)
      }
      guard !lines.isEmpty else { continue }
      let here = deleted.intersection(lines), gone = deleted.subtracting(lines)
      for line in here.sorted() where withoutDeleted[service.name]?.contains(line) ?? false {
        noteTrouble("\(line) is back", in: service)
      }
      withoutDeleted[service.name] = gone
    }
  }

  private func noteTrouble(_ trouble: String, in service: SimulatedService) {
    if troubles.insert(trouble).inserted { note("TROUBLE: \(trouble) in the document of \(service.name)") }
  }
}

extension SimulatedService {
  /// The note's text in this service's document; empty if it has none.
  func documentText(_ id: String) -> String {
    guard let document = repo.handles.first(where: { $0.id.description == id })?.document,
      case .Object(let content, .Text)? = try? document.get(obj: .ROOT, key: "content")
    else { return "" }
    return (try? document.text(obj: content)) ?? ""
  }
}

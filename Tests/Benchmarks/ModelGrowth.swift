import ArgumentParser
import Automerge
import AutomergeRepo
import Foundation

/// How what programs do with models grows with their size: the cost of an element is to stay the same.
struct ModelGrowth: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "models", abstract: "The cost per element of models, histories and maps of growing size.")

  @Option(parsing: .upToNextOption, help: "How many elements, ascending.")
  var sizes = [1_000, 10_000, 100_000]

  @OptionGroup var output: OutputOptions

  func run() async throws {
    for size in sizes {
      try dictionary(size)
      try list(size)
      try history(size)
      try map(size)
      try await finding(size)
    }
  }

  private func time<Result>(_ name: String, _ count: Int, _ work: () throws -> Result) rethrows -> Result {
    let start = processorMilliseconds()
    let result = try work()
    tell(name, count, since: start)
    return result
  }

  private func time(_ name: String, _ count: Int, _ work: () async throws -> Void) async rethrows {
    let start = processorMilliseconds()
    try await work()
    tell(name, count, since: start)
  }

  private func tell(_ name: String, _ count: Int, since start: Double) {
    let microseconds = (processorMilliseconds() - start) * 1000 / Double(count)
    Measure(trace: "\(count) elements", name: name, unit: "µs", samples: [microseconds]).print(asJSON: output.json)
  }

  private func dictionary(_ size: Int) throws {
    let document = Document(), model = Dictionary(uniqueKeysWithValues: (0..<size).map { ("key \($0)", $0) })
    try time("encode_dictionary", size) { try AutomergeEncoder(doc: document).encode(model) }
    _ = try time("decode_dictionary", size) { try AutomergeDecoder(doc: document).decode([String: Int].self) }
    try time("encode_dictionary_again", size) { try AutomergeEncoder(doc: document).encode(model) }
  }

  private func list(_ size: Int) throws {
    struct Model: Codable { var names: [String], scores: [Counter] }
    var typed = try time("typed_document", size) {
      try TypedDocument(Model(names: (0..<size).map { "name \($0)" }, scores: (0..<size).map { Counter($0) }))
    }
    _ = try time("typed_change_appending", size) { try typed.change { $0.names.append("one more") } }
    _ = try time("conflicts", size) { try typed.conflicts }
    _ = try time("hydrate", size) { try typed.document.hydrate() }
  }

  private func history(_ size: Int) throws {
    let document = Document()
    for number in 0..<size {
      try document.put(obj: .ROOT, key: "number", value: .Int(Int64(number)))
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    let history = time("history", size) { TypedDocument<[String: Int]>(document: document).history }
    _ = try time("history_snapshots", size) { try history.map { try $0.snapshot["number"] } }
  }

  /// Finds each of many documents in a store in memory.
  private func finding(_ size: Int) async throws {
    let store = InMemoryStorage(), writer = Repo(storage: store)
    var ids: [DocumentId] = []
    for _ in 0..<size { ids.append(try await writer.create(id: DocumentId()).id) }
    try await writer.shutDown()
    let reader = Repo(storage: store)
    try await time("find_in_memory", size) { for id in ids { _ = try await reader.find(id: id) } }
    try await reader.shutDown()
  }

  private func map(_ size: Int) throws {
    let document = Document()
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    for number in 0..<size { try document.put(obj: .ROOT, key: "key \(number)", value: .Null) }
    _ = time("map_length", size) { (0..<size).reduce(0) { sum, _ in sum &+ document.length(obj: .ROOT) } }
    try time("path_in_transaction", size) {
      for number in 0..<size {
        _ = try document.path(obj: document.insertObject(obj: list, index: UInt64(number), ty: .Map))
      }
    }
  }
}

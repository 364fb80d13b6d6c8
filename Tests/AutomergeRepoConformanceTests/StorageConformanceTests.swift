import AutomergeRepo
import AutomergeRepoConformance
import FileStorage
import Foundation
import Synchronization
import TestSupport
import Testing

struct StorageConformanceTests {
  @Test func memoryConforms() async throws {
    let places = Places()
    try await StorageConformance { place in places.storage(at: place) }.run()
  }

  @Test func filesConform() async throws {
    let directory = try TemporaryDirectory()
    let folder = URL(fileURLWithPath: directory.path)
    try await StorageConformance { place in try FileStore(directory: folder.appendingPathComponent(place)) }.run()
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: FaultyProvider.Fault.allCases)
  func aFaultIsFoundByItsCheck(fault: FaultyProvider.Fault) async throws {
    let places = Places()
    let suite = StorageConformance(promising: fault == .halfCommits ? .atomicCommits : []) { place in
      let base = fault == .forgetfulOpening ? InMemoryStorage() : places.storage(at: place)
      return FaultyProvider(base, fault)
    }
    let checks = await suite.findings().map(\.check)
    #expect(checks.contains(fault.check.rawValue), "\(fault) was found by \(checks)")
  }

  @Test func anErrorNamesEachCheckThatFailed() async throws {
    let suite = StorageConformance { _ in FaultyProvider(InMemoryStorage(), .emptyIsNothing) }
    let error = await #expect(throws: ConformanceError.self) { try await suite.run() }
    #expect("\(try #require(error))".hasPrefix("emptyValues: broken rule: a value without bytes is a value\n"))
  }

  /// One store in memory for each place.
  private final class Places: Sendable {
    private let stores = Mutex<[String: InMemoryStorage]>([:])

    func storage(at place: String) -> InMemoryStorage {
      stores.withLock { stores in
        let storage = stores[place] ?? InMemoryStorage()
        stores[place] = storage
        return storage
      }
    }
  }
}

import Automerge
import AutomergeRepo
import Foundation
import Testing

/// Handles are used from wherever a program lives.
@MainActor
final class Screen {
  let repo = Repo()
  private var title = ""

  func rename(_ handle: DocHandle, to title: String) async throws {
    self.title = title
    try await handle.change { [title] document in try document.put(obj: .ROOT, key: "title", value: .String(title)) }
  }

  func title(of handle: DocHandle) throws -> Value? { try handle.doc.get(obj: .ROOT, key: "title") }
}

actor Library {
  let repo: Repo
  private var handles: [DocHandle] = []

  init(_ repo: Repo) { self.repo = repo }

  func add(_ title: String) async throws -> DocumentId {
    let handle = try await repo.create()
    try await handle.change { try $0.put(obj: .ROOT, key: "title", value: .String(title)) }
    handles.append(handle)
    return handle.id
  }
}

struct IsolationTests {
  @Test @MainActor func aScreenChangesADocument() async throws {
    let screen = Screen()
    let handle = try await screen.repo.create()
    try await screen.rename(handle, to: "Plans")
    #expect(try screen.title(of: handle) == .Scalar(.String("Plans")))
  }

  @Test func anActorKeepsDocuments() async throws {
    let repo = Repo(storage: InMemoryStorage())
    let library = Library(repo)
    let ids = [try await library.add("one"), try await library.add("two")]
    try await repo.flush()
    #expect(try await repo.documentIds() == Set(ids))
    #expect(ids.sorted().count == 2 && ids.sorted()[0] < ids.sorted()[1])
  }

  @Test func changeGivesBackWhatItsBodyReturns() async throws {
    let handle = try await Repo().create()
    let id = try await handle.change { try $0.putObject(obj: .ROOT, key: "list", ty: .List) }
    #expect(handle.doc.length(obj: id) == 0)
    await #expect(throws: DocError.self) {
      try await handle.change { try $0.delete(obj: id, index: 7) }
    }
  }

  @Test func threadsAndTasksChangeOneDocumentAtOnce() async throws {
    let store = InMemoryStorage()
    let repo = Repo(storage: store)
    let handle = try await repo.create()
    let document = handle.doc
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let bound = try AutomergeText(doc: document, objId: text)
    await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask { for _ in 0..<50 { try document.put(obj: .ROOT, key: "\(number)", value: .Int(Int64(number))) } }
        group.addTask {
          for _ in 0..<50 { try await handle.change { try $0.put(obj: .ROOT, key: "c\(number)", value: .Int(1)) } }
        }
      }
      group.addTask { for count in 1...50 { bound.value = String(repeating: "x", count: count) } }
    }
    try await repo.flush()
    #expect(await handle.isStored)
    let again = try await Repo(storage: store).find(id: handle.id, within: .patient)
    #expect(again.doc.heads() == document.heads())
    #expect(try again.doc.text(obj: text) == String(repeating: "x", count: 50))
  }
}

import Testing

@testable import Automerge

/// News of bound values: once for each change, for changes of theirs only.
struct BoundUpdatesTests {
  @Test func aTextReportsItsOwnChangesWhereverTheyAreMade() async throws {
    let document = Document()
    let text = try AutomergeText("hello", doc: document, path: "text")
    let object = try #require(text.object(in: document))
    var updates = text.updates().makeAsyncIterator()
    text.value = "hello world"
    #expect(await updates.next() != nil)
    try document.spliceText(obj: object, start: 0, delete: 5, value: "bye")
    #expect(await updates.next() != nil)
    let fork = document.fork()
    try fork.updateText(obj: object, value: "bye all")
    // Neither is a change of the text.
    try document.put(obj: .ROOT, key: "other", value: .Int(1))
    try document.updateText(obj: object, value: "bye world")
    try document.merge(other: fork)
    #expect(await updates.next() != nil)
    #expect(text.value == "bye all")
  }

  @Test func whatChangesNothingIsNoNews() async throws {
    let document = Document()
    var text: AutomergeText? = try AutomergeText("hello", doc: document, path: "text")
    var updates = try #require(text).updates().makeAsyncIterator()
    try document.put(obj: .ROOT, key: "other", value: .Int(1))
    text?.value = "hello"
    text = nil
    #expect(await updates.next() == nil)
    // A deleted text leaves no observer behind.
    #expect(document.observers.isEmpty)
  }

  /// How a value is deleted: by itself, with what contains it, or by a peer.
  enum Deletion: CaseIterable { case itself, container, peer }

  @Test(arguments: Deletion.allCases) func updatesEndWhenTheValueIsDeleted(deletion: Deletion) async throws {
    let document = Document()
    let map = try document.putObject(obj: .ROOT, key: "map", ty: .Map)
    let text = try AutomergeText("hello", doc: document, path: "map.text")
    try document.put(obj: map, key: "votes", value: .Counter(1))
    let counter = try Counter(doc: document, path: "map.votes")
    let texts = text.updates(), numbers = counter.updates()
    switch deletion {
    case .itself:
      try document.delete(obj: map, key: "text")
      try document.delete(obj: map, key: "votes")
    case .container: try document.delete(obj: .ROOT, key: "map")
    case .peer:
      let peer = document.fork()
      try peer.put(obj: .ROOT, key: "map", value: .Int(1))
      try document.merge(other: peer)
    }
    for await _ in texts {}
    for await _ in numbers {}
    // Those that begin now end at once.
    for await _ in text.updates() {}
    for await _ in counter.updates() {}
    let heads = document.heads()
    #expect(throws: DocError.self) { try text.update(to: "lost") }
    #expect(throws: BindingError.NotCounter) { try counter.add(1) }
    text.value = "lost"
    counter.value = 7
    #expect(document.heads() == heads && text.value == "hello" && counter.value == 1)
  }

  @Test func updatesOutliveALostConflictAndIsolation() async throws {
    let document = Document()
    let before = document.heads()
    let text = try AutomergeText("hello", doc: document, path: "text"), other = Document()
    _ = try AutomergeText("another", doc: other, path: "text")
    var updates = text.updates().makeAsyncIterator()
    try document.merge(other: other)
    try document.isolate(heads: before)
    document.integrate()
    try text.update(to: "hello world")
    #expect(await updates.next() != nil)
    #expect(text.value == "hello world")
  }

  @Test func aTextByItselfTellsToo() async throws {
    let text = AutomergeText("a"), document = Document()
    var updates = text.updates().makeAsyncIterator()
    text.value = "b"
    #expect(await updates.next() != nil)
    // Bound later, it tells of the document's changes.
    try text.bind(doc: document, path: "text")
    let object = try #require(text.object(in: document))
    try document.updateText(obj: object, value: "c")
    #expect(await updates.next() != nil)
    #expect(text.value == "c")
  }

  @Test func aCounterReportsItsOwnChangesWhereverTheyAreMade() async throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "votes", value: .Counter(1))
    let counter = Counter()
    var updates = counter.updates().makeAsyncIterator()
    counter.increment(by: 2)
    #expect(await updates.next() != nil)
    try counter.bind(doc: document, path: "votes")
    #expect(counter.value == 3)
    try document.increment(obj: .ROOT, key: "votes", by: 4)
    #expect(await updates.next() != nil)
    let fork = document.fork()
    try fork.increment(obj: .ROOT, key: "votes", by: 5)
    try document.merge(other: fork)
    #expect(await updates.next() != nil)
    #expect(counter.value == 12)
  }

  @Test(arguments: [1, 3])
  func aReaderOnAnotherThreadEndsWithTheLastValue(writers: Int) async throws {
    let document = Document()
    let text = try AutomergeText("", doc: document, path: "text")
    let object = try #require(text.object(in: document)), updates = text.updates()
    let reader = Task {
      for await _ in updates where text.value.count == writers * 200 { return text.value.count }
      return -1
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<writers {
        group.addTask {
          for _ in 0..<200 { try document.spliceText(obj: object, start: 0, delete: 0, value: "x") }
        }
      }
      try await group.waitForAll()
    }
    #expect(await reader.value == writers * 200)
  }
}

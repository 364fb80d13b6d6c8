import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

struct AgendaDifferenceTests {
  private func agenda(_ names: String) -> [AgendaEntry] { names.map { AgendaEntry(id: "\($0)", title: "\($0)") } }

  private func moved(_ old: String, _ new: String, byAge ages: String = "") -> String {
    let items = AgendaDifference(from: agenda(old), to: agenda(new), byAge: ages.map { "\($0)" }).items
    return items.filter { $0.value.isMoved }.keys.sorted().joined()
  }

  @Test func ofItemsThatChangedPlacesTheFewestAreMoved() {
    #expect(moved("abcde", "abcde") == "")
    #expect(moved("abcde", "eabcd") == "e")
    #expect(moved("abcde", "bcdea") == "a")
    #expect(moved("abcde", "acbde").count == 1)
    // Added and deleted items do not count as moves.
    #expect(moved("abcde", "xacey") == "")
  }

  /// A move makes an item again, so it is the last one made.
  @Test func ofTwoItemsThatChangedPlacesTheOneThatWasMadeAgainIsMoved() {
    #expect(moved("ab", "ba", byAge: "ba") == "a")
    #expect(moved("ab", "ba", byAge: "ab") == "b")
    #expect(moved("abcde", "acbde", byAge: "abdec") == "c")
    #expect(moved("abcde", "acbde", byAge: "acdeb") == "b")
    #expect(moved("abcde", "bcdea", byAge: "abcde") == "a", "the fewest come first")
  }

  @Test func whatCameWentAndHasAnotherTitleIsTold() {
    var new = agenda("xac")
    new[1].title = "A"
    let found = AgendaDifference(from: agenda("abc"), to: new)
    #expect(found.items == ["x": .init(isNew: true), "a": .init(formerTitle: "a")])
    #expect(found.deleted == ["b"])
    #expect(AgendaDifference(from: agenda("abc"), to: new, ignoring: ["x"]).items["x"] == nil)
  }

  @Test func aTitleThatIsGivenBackIsNoDifference() {
    var news = AgendaDifference()
    news.retitle(from: "Weekly", to: "Monthly")
    news.retitle(from: "Monthly", to: "Yearly")
    #expect(news.formerTitle == "Weekly" && !news.isEmpty)
    news.retitle(from: "Yearly", to: "Weekly")
    #expect(news.isEmpty)
  }

  @Test func theFirstTitleOfSeveralIsTheFormerOne() {
    var (second, third) = (agenda("a"), agenda("a"))
    second[0].title = "b"
    third[0].title = "c"
    var news = AgendaDifference(from: agenda("a"), to: second)
    news.add(AgendaDifference(from: second, to: third))
    #expect(news.items["a"]?.formerTitle == "a")
  }
}

/// Other people's changes of an agenda, reported where this person looks.
@AutomergeRepo struct AgendaNewsTests {
  /// The list of items as the editor shows it.
  private func list(_ file: DocumentFilesTests.OpenedFile, opens: Bool) async throws -> String {
    let params: JSONValue = ["id": .string(file.id.description), "width": 80, "opens": .bool(opens)]
    let answer = try await file.service.request("notes/items", params)
    return answer["lines"]?.arrayValue?.compactMap(\.stringValue).joined(separator: "\n") ?? ""
  }

  private func events(_ file: DocumentFilesTests.OpenedFile) -> [String] {
    file.service.events("agenda").compactMap { $0["message"]?.stringValue }
  }

  @Test func whatOthersDidIsMarkedUntilTheListIsOpenedAgain() async throws {
    let file = try await DocumentFilesTests.OpenedFile(seed: 21)
    #expect(try await !list(file, opens: true).contains("News"))
    // The person's own items are no news.
    _ = try await file.service.request("notes/addItem", ["id": .string(file.id.description), "title": "Cake"])
    #expect(try await !list(file, opens: false).contains("News"))
    try file.changeOutside { meeting in
      try meeting.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0)
      try meeting.rename(try #require(meeting.item("1")), to: "Green tea")
    }
    file.save()
    try await file.service.wait(for: "the line") { !events(file).isEmpty }
    #expect(events(file) == ["Agenda of \"Weekly\": 1 new, 1 renamed"])
    for opens in [false, true] {
      let lines = try await list(file, opens: opens).split(separator: "\n")
      if opens { #expect(lines.count == 5) }
      #expect(lines.first?.hasSuffix("News") ?? false == !opens)
      #expect(lines.contains { $0.contains("1. Pie") && $0.contains("  new by ") } == !opens)
      #expect(lines.contains { $0.contains("Green tea") && $0.hasSuffix("was \"Tea\"") } == !opens)
      #expect(lines.contains { $0.contains("Cake") && !$0.contains("new") })
    }
  }

  @Test func whatHappensWhileNoListIsShownIsMarkedWhenItIsOpened() async throws {
    let file = try await DocumentFilesTests.OpenedFile(seed: 22)
    _ = try await list(file, opens: true)
    _ = try await list(file, opens: true)
    try file.changeOutside { meeting in
      try meeting.delete(try #require(meeting.item("1")))
      try meeting.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0)
    }
    file.save()
    let id = file.id
    try await file.service.wait(for: "the agenda") {
      file.service.service.notebook[id]?.agenda.map(\.title) == ["Pie"]
    }
    let lines = try await list(file, opens: true)
    #expect(lines.contains("new by ") && lines.contains("Deleted: Tea"))
  }

  @Test func ofAMeetingThatNoEditorShowsNothingIsTold() async throws {
    let file = try await DocumentFilesTests.OpenedFile(seed: 23)
    try file.changeOutside { try $0.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0) }
    file.save()
    let id = file.id
    try await file.service.wait(for: "the agenda") { file.service.service.notebook[id]?.agenda.count == 2 }
    try await file.service.pass(.seconds(3))
    #expect(events(file) == [])
    // But its list has the news when it is opened for the first time.
    #expect(try await list(file, opens: true).contains("new by "))
  }

  @Test func aNewTitleOfTheMeetingIsToldOnceAndNamedInTheList() async throws {
    let file = try await DocumentFilesTests.OpenedFile(seed: 25)
    _ = try await list(file, opens: true)
    try file.changeOutside { try $0.rename(to: "Monthly") }
    file.save()
    try await file.service.wait(for: "the line") { !events(file).isEmpty }
    #expect(events(file) == ["\"Weekly\" is now \"Monthly\""])
    #expect(try await list(file, opens: false).contains("Former title: Weekly"))
    try file.changeOutside { try $0.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0) }
    file.save()
    try await file.service.wait(for: "the next line") { events(file).count > 1 }
    #expect(events(file).last?.hasSuffix(" added the item \"Pie\"") == true, "\(events(file))")
    _ = try await list(file, opens: true)
    #expect(try await !list(file, opens: true).contains("Former title"))
  }

  @Test func aNewTitleAndNewItemsAreOneLine() async throws {
    let file = try await DocumentFilesTests.OpenedFile(seed: 26)
    _ = try await list(file, opens: true)
    try file.changeOutside { meeting in
      try meeting.rename(to: "Monthly")
      try meeting.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0)
    }
    file.save()
    try await file.service.wait(for: "the line") { !events(file).isEmpty }
    #expect(events(file) == ["Agenda of \"Monthly\": new title, 1 new"])
  }

  @Test func aTitleThatThePersonGivesIsNoNews() async throws {
    let file = try await DocumentFilesTests.OpenedFile(seed: 27)
    _ = try await list(file, opens: true)
    _ = try await file.service.request("notes/rename", ["id": .string(file.id.description), "title": "Monthly"])
    try file.changeOutside { try $0.insert(.init(id: "2", title: "Pie", discussion: ""), at: 0) }
    file.save()
    try await file.service.wait(for: "the line") { !events(file).isEmpty }
    #expect(events(file).count == 1 && events(file)[0].hasSuffix(" added the item \"Pie\""), "\(events(file))")
    #expect(try await !list(file, opens: false).contains("Former title"))
  }

  @Test func oneItemIsNamed() async throws {
    let file = try await DocumentFilesTests.OpenedFile(seed: 24)
    _ = try await list(file, opens: true)
    try file.changeOutside { try $0.rename(try #require($0.item("1")), to: "Coffee") }
    file.save()
    try await file.service.wait(for: "the line") { !events(file).isEmpty }
    #expect(events(file) == ["Item \"Tea\" is now \"Coffee\""])
  }

  /// The list that the editor asks for when it hears of a change.
  @Test func anEditorHearsOfAChangeAgainWhenTheWordsAreCounted() async throws {
    let ben = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 28))))
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let item = try await ben.request("notes/addItem", ["id": made["id"] ?? .null, "title": "Tea"])
    let key = NoteKey(id, item: item["item"]?.stringValue)
    let handle = try await ben.handle(of: id), peer = handle.document.fork()
    var words: [Int] = []
    ben.onMessage = { [unowned ben] message in
      guard message["params"]?["kind"] == "changed" else { return }
      words.append(ben.service.notebook[key]?.words ?? 0)
    }
    let text = try #require(MeetingDocument(peer)?.items.first?.discussion)
    try peer.spliceText(obj: text, start: 0, delete: 0, value: "one two three")
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    ben.service.fileSync.changedOutside(handle)
    try await ben.wait(for: "the count") { words.last == 3 }
  }
}

import Automerge
import Foundation
import Testing

/// The samples of the documentation, each between `// snippet` and `// end` as it stands there, run in the order of the
/// page. `DocumentationTests` holds the two together.
struct DocumentationSnippets {
  @Test func theLandingPageHolds() throws {
    // snippet
    struct Trip: Codable {
      var destination: String
      var stops: [String]
    }

    let document = Document()
    try AutomergeEncoder(doc: document).encode(Trip(destination: "Oslo", stops: ["Lübeck", "Malmö"]))
    let trip = try AutomergeDecoder(doc: document).decode(Trip.self)
    // end

    #expect(trip.destination == "Oslo" && trip.stops == ["Lübeck", "Malmö"])
  }

  @Test func tenMinutesWithADocumentHold() throws {
    // snippet
    let document = Document()
    try document.put(obj: .ROOT, key: "title", value: .String("Shopping"))
    let items = try document.putObject(obj: .ROOT, key: "items", ty: .List)
    try document.insert(obj: items, index: 0, value: .String("bread"))
    try document.insert(obj: items, index: 1, value: .String("milk"))
    document.commitWith(message: "a list for Saturday")
    // end

    // snippet
    let title = try document.get(obj: .ROOT, key: "title")
    let everything = try document.values(obj: items)
    // end

    #expect(title == .Scalar(.String("Shopping")) && everything.count == 2)
    #expect(try document.get(obj: .ROOT, key: "nothing") == nil)

    // snippet
    let bytes = document.save()
    let loaded = try Document(bytes)
    // end

    #expect(loaded.heads() == document.heads())

    // snippet
    let theirs = document.fork()
    try theirs.insert(obj: items, index: 2, value: .String("eggs"))
    try document.delete(obj: items, index: 0)
    try document.put(obj: .ROOT, key: "title", value: .String("Groceries"))
    // end

    // snippet
    try document.merge(other: theirs)
    try theirs.merge(other: document)
    // end

    for replica in [document, theirs] {
      #expect(try replica.values(obj: items) == [.Scalar(.String("milk")), .Scalar(.String("eggs"))])
      #expect(try replica.get(obj: .ROOT, key: "title") == .Scalar(.String("Groceries")))
    }
    #expect(document.heads() == theirs.heads())

    // snippet
    let note = try document.putObject(obj: .ROOT, key: "note", ty: .Text)
    try document.spliceText(obj: note, start: 0, delete: 0, value: "Take a bag")
    let copy = document.fork()
    try document.spliceText(obj: note, start: 0, delete: 4, value: "Bring")
    try copy.spliceText(obj: note, start: 10, delete: 0, value: "!")
    try document.merge(other: copy)
    let text = try document.text(obj: note)
    // end

    #expect(text == "Bring a bag!")
  }

  @Test func modellingDataHolds() throws {
    // snippet
    struct Recipe: Codable {
      var name: String
      var minutes: Int
      var steps: [String]
    }

    var recipe = Recipe(name: "Pancakes", minutes: 20, steps: ["mix", "fry"])
    let document = Document()
    let encoder = AutomergeEncoder(doc: document)
    try encoder.encode(recipe)

    recipe.steps.insert("rest", at: 1)
    try encoder.encode(recipe)
    // end

    #expect(try AutomergeDecoder(doc: document).decode(Recipe.self).steps == ["mix", "rest", "fry"])

    // snippet
    struct Meeting: Codable {
      var body: AutomergeText
      var votes: Counter
    }

    let meeting = Meeting(body: AutomergeText("Present: Ann"), votes: Counter(0))
    try AutomergeEncoder(doc: document).encode(meeting, at: [AnyCodingKey("meeting")])

    let copy = document.fork()
    let theirs = try AutomergeDecoder(doc: copy).decode(Meeting.self, from: [AnyCodingKey("meeting")])
    theirs.body.value = "Present: Ann, Bob"
    theirs.votes.increment(by: 1)
    meeting.votes.increment(by: 1)
    try document.merge(other: copy)
    // end

    #expect(meeting.body.value == "Present: Ann, Bob" && meeting.votes.value == 2)

    // snippet
    let path = try AnyCodingKey.parsePath("recipes.[0].name")
    try AutomergeEncoder(doc: document).encode("Waffles", at: path)
    let name = try AutomergeDecoder(doc: document).decode(String.self, from: path)
    // end

    #expect(name == "Waffles")

    // snippet
    let strict = AutomergeEncoder(doc: document, strategy: .readonly, cautiousWrite: true)
    do {
      try strict.encode(1, at: [AnyCodingKey("new")])
    } catch let error as CodingKeyLookupError {
      print(error.localizedDescription)
    }
    // end

    #expect(try document.get(obj: .ROOT, key: "new") == nil)

    // snippet
    try document.put(
      obj: .ROOT, key: "pantry", value: .dict(["flour": .scalar(.Int(2)), "labels": .array([.text("Rye")])]))
    let everything = try document.hydrate()
    // end

    guard case .dict(let entries) = everything else { throw DocError.invalidValue }
    #expect(entries["pantry"] == .dict(["flour": .scalar(.Int(2)), "labels": .array([.text("Rye")])]))
  }

  @Test func richTextHolds() throws {
    // snippet
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "Hello world")
    try document.mark(obj: text, start: 6, end: 11, expand: .after, name: "bold", value: .Boolean(true))
    // end

    // snippet
    let heading: [String: AutomergeValue] = [
      "type": .scalar(.String("heading")), "parents": .array([]), "attrs": .dict(["level": .scalar(.Int(1))]),
    ]
    try document.splitBlock(obj: text, index: 0, block: heading)
    // end

    // snippet
    let spans = try document.spans(obj: text)
    // end

    let bold: Span = .text("world", marks: ["bold": .Boolean(true)])
    #expect(spans == [.block(heading), .text("Hello ", marks: [:]), bold])
  }

  @Test func syncingHolds() throws {
    // snippet
    let mine = Document()
    try mine.put(obj: .ROOT, key: "from", value: .String("me"))
    let theirs = Document()
    try theirs.put(obj: .ROOT, key: "to", value: .String("you"))

    let myState = SyncState()
    let theirState = SyncState()
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      if let message = mine.generateSyncMessage(state: myState) {
        try theirs.receiveSyncMessage(state: theirState, message: message)
        isQuiet = false
      }
      if let message = theirs.generateSyncMessage(state: theirState) {
        try mine.receiveSyncMessage(state: myState, message: message)
        isQuiet = false
      }
    }
    // end

    #expect(mine.heads() == theirs.heads())
    #expect(mine.keys(obj: .ROOT) == ["from", "to"])

    // snippet
    let kept = myState.encode()
    let stateForNextTime = try SyncState(bytes: kept)
    // end

    #expect(stateForNextTime.encode() == kept)

    // snippet
    let known = theirs.heads()
    try mine.put(obj: .ROOT, key: "more", value: .Int(1))
    let changes = try mine.encodeChangesSince(heads: known)
    try theirs.applyEncodedChanges(encoded: changes)
    // end

    #expect(mine.heads() == theirs.heads() && theirs.keys(obj: .ROOT) == ["from", "more", "to"])
  }

  @Test func lookingBackHolds() throws {
    // snippet
    struct Pets: Codable {
      var names: [String]
    }

    var pets = try TypedDocument(Pets(names: ["Fido"]), message: "the first")
    try pets.change(message: "a cat") { $0.names.append("Tom") }
    try pets.change(message: "moved out") { $0.names.removeFirst() }
    // end

    // snippet
    var lines: [String] = []
    for commit in pets.history {
      lines.append("\(commit.message ?? ""): \(try commit.snapshot.names.joined(separator: ", "))")
    }
    // end

    #expect(lines == ["the first: Fido", "a cat: Fido, Tom", "moved out: Tom"])

    // snippet
    var backup = pets
    try pets.change(message: "a parrot") { $0.names.append("Polly") }
    let news = pets.changes(between: backup)
    try backup.apply(changes: news)
    // end

    #expect(try backup.content.names == ["Tom", "Polly"] && news.count == 1)

    // snippet
    var theirs = pets.fork()
    try pets.change { $0.names[0] = "Thomas" }
    try theirs.change { $0.names[0] = "Tommy" }
    try pets.merge(theirs)
    let disagreement = try pets.conflicts.first
    let authors = disagreement?.candidates.map(\.actor)
    // end

    #expect(disagreement?.path.stringPath() == ".names.[0]")
    #expect(disagreement?.values == [.Scalar(.String("Thomas")), .Scalar(.String("Tommy"))])
    #expect(try Set(#require(authors)) == [pets.actor, theirs.actor])
  }
}

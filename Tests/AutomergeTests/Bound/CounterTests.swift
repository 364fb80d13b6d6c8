import Foundation
import Testing

@testable import Automerge

struct CounterTests {
  struct Ballot: Codable, Equatable { var votes: Counter }

  @Test func aCounterByItselfCounts() throws {
    let counter = Counter(3)
    counter.increment(by: 2)
    counter.value -= 10
    #expect(counter.value == -5 && !counter.isBound && counter.description == "-5" && Counter().value == 0)
    #expect(counter == Counter(-5) && counter.hashValue == Counter(-5).hashValue)
    #expect(throws: DocError.invalidValue) { try counter.add(.min) }
    counter.increment(by: .min)
    #expect(counter.value == -5)
  }

  @Test func aBoundCounterCountsInTheDocument() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "votes", value: .Counter(5))
    let counter = try Counter(doc: document, objId: .ROOT, key: AnyCodingKey("votes"))
    counter.increment(by: 2)
    #expect(try document.at("votes") == .Scalar(.Counter(7)))
    counter.value = 3
    #expect(try document.at("votes") == .Scalar(.Counter(3)))
    #expect(document.operations { counter.value = 3 } == 0)
    try document.increment(obj: .ROOT, key: "votes", by: 10)
    #expect(counter.value == 13 && counter.isBound)
  }

  @Test func bindingAddsWhatWasCountedBefore() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "votes", value: .Counter(5))
    let counter = try Counter(-2, doc: document, path: "votes")
    #expect(counter.value == 3)
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.insert(obj: list, index: 0, value: .Counter(1))
    let other = Counter()
    try other.bind(doc: document, path: "list.[0]")
    other.increment(by: 4)
    #expect(try document.at("list.[0]") == .Scalar(.Counter(5)))
  }

  @Test func bindingToWhatIsNoCounterIsRefused() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "number", value: .Int(1))
    let counter = Counter(4)
    #expect(throws: BindingError.NotCounter) { try counter.bind(doc: document, path: "number") }
    #expect(throws: BindingError.NotCounter) { try counter.bind(doc: document, path: "missing") }
    #expect(throws: BindingError.NotCounter) { try Counter(doc: document, objId: .ROOT, key: AnyCodingKey("missing")) }
    #expect(throws: CodingKeyLookupError.self) { try counter.bind(doc: document, path: "missing.deeper") }
    #expect(throws: BindingError.InvalidPath("")) { try counter.bind(doc: document, path: "") }
    #expect(!counter.isBound && counter.value == 4)
  }

  @Test func aDeletedCounterKeepsItsLastNumber() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "votes", value: .Counter(5))
    let counter = try Counter(doc: document, objId: .ROOT, key: AnyCodingKey("votes"))
    #expect(counter.value == 5)
    try document.delete(obj: .ROOT, key: "votes")
    counter.increment(by: 1)
    #expect(counter.value == 5)
    #expect(throws: BindingError.NotCounter) { try counter.add(1) }
  }

  @Test func whatTwoPeopleCountIsAdded() throws {
    let document = Document()
    try AutomergeEncoder(doc: document).encode(Ballot(votes: Counter(0)))
    let other = document.fork()
    let first = try AutomergeDecoder(doc: document).decode(Ballot.self)
    let second = try AutomergeDecoder(doc: other).decode(Ballot.self)
    first.votes.value += 3
    second.votes.value -= 1
    try AutomergeEncoder(doc: document).encode(first)
    try AutomergeEncoder(doc: other).encode(second)
    try document.merge(other: other)
    try other.merge(other: document)
    #expect(first.votes.value == 2 && second.votes.value == 2)
  }

  @Test func puttingCountersInsteadOfIncrementingThemLosesOne() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "votes", value: .Counter(0))
    let other = document.fork()
    try document.put(obj: .ROOT, key: "votes", value: .Counter(3))
    try other.put(obj: .ROOT, key: "votes", value: .Counter(-1))
    try document.merge(other: other)
    try other.merge(other: document)
    #expect(try document.at("votes") == other.at("votes"))
    #expect(try document.getAll(obj: .ROOT, key: "votes") == [.Scalar(.Counter(3)), .Scalar(.Counter(-1))])
  }

  @Test func anUnboundCounterOverOneThatIsThereCountsTheDifference() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    try encoder.encode(["votes": Counter(4)])
    #expect(try document.operations { try encoder.encode(["votes": Counter(45)]) } == 1)
    #expect(try document.at("votes") == .Scalar(.Counter(45)))
    #expect(try document.getAll(obj: .ROOT, key: "votes").count == 1)
  }

  @Test func anEncodedCounterIsBoundToItsKey() throws {
    let document = Document()
    let ballot = Ballot(votes: Counter(4))
    try AutomergeEncoder(doc: document).encode(ballot)
    ballot.votes.increment(by: 1)
    #expect(ballot.votes.isBound)
    #expect(try document.at("votes") == .Scalar(.Counter(5)))
    let lone = Document()
    try AutomergeEncoder(doc: lone).encode(Counter(9))
    #expect(try AutomergeDecoder(doc: lone).decode(Counter.self).value == 9)
  }

  /// A ballot whose values change while it is encoded, as another thread may change them.
  private struct Changing: Encodable {
    let votes: Counter, name: AutomergeText
    private enum CodingKeys: String, CodingKey { case votes, name }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(votes, forKey: .votes)
      try container.encode(name, forKey: .name)
      votes.increment(by: 3)
      name.value = "green tea"
    }
  }

  @Test func whatChangesWhileItIsEncodedIsNotLost() throws {
    let document = Document()
    let changing = Changing(votes: Counter(4), name: AutomergeText("tea"))
    try AutomergeEncoder(doc: document).encode(changing)
    #expect(changing.votes.value == 7)
    #expect(changing.name.value == "green tea")
    #expect(try document.at("votes") == .Scalar(.Counter(7)))
  }

  @Test func otherEncodersSeeTheNumber() throws {
    let json = try JSONEncoder().encode(Counter(7))
    #expect(String(decoding: json, as: UTF8.self) == #"{"value":7}"#)
    #expect(try JSONDecoder().decode(Counter.self, from: json) == Counter(7))
  }
}

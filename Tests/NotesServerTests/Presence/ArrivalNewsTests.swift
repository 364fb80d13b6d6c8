import Testing

@testable import NotesServer

struct ArrivalNewsTests {
  @Test func endlessComingAndGoingIsToldAFewTimes() {
    var news = ArrivalNews()
    func told(_ count: Int, from start: Int = 0, of person: String, in document: (Int) -> String) -> Int {
      (0..<count).count { number in
        news.allows(person, in: document(number), isRelayed: false, at: .seconds(start) + .milliseconds(number))
      }
    }
    #expect(told(100, of: "eve") { _ in "a" } == ArrivalNews.maximumInDocument)
    #expect(told(100, of: "eve") { "\($0)" } == ArrivalNews.maximumOfPerson - ArrivalNews.maximumInDocument)
    // The control: another person's arrival is reported, and this person's again later.
    #expect(told(1, of: "ben") { _ in "a" } == 1)
    #expect(told(1, from: 601, of: "eve") { _ in "a" } == 1)
  }

  @Test func relayedPeopleWithoutEndAreToldOfAFewTimesAMinute() {
    var news = ArrivalNews()
    func told(from start: Int, isRelayed: Bool) -> Int {
      (0..<3000).count { number in
        news.allows("\(start) \(number)", in: "a", isRelayed: isRelayed, at: .seconds(start))
      }
    }
    #expect(told(from: 0, isRelayed: true) == ArrivalNews.maximumRelayed)
    #expect(told(from: 30, isRelayed: true) == 0)
    #expect(told(from: 61, isRelayed: true) == ArrivalNews.maximumRelayed)
    // The control: the arrival of a linked person is reported all the same.
    let isTold = news.allows("ben", in: "a", isRelayed: false, at: .seconds(62))
    #expect(isTold)
  }
}

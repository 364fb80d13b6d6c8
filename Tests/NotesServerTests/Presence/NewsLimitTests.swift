import AutomergeRepo
import RepoTestSupport
import Testing

@testable import NotesServer

struct NewsLimitTests {
  private typealias Limit = NewsLimit<String>

  @Test func aPeersLinesOverTheLimitWaitAndTheLastOfEachSubjectIsTold() {
    var limit = Limit()
    for number in 0..<Limit.maximumPerPeriod {
      #expect(limit.verdict(on: "\(number)", about: "a", of: "ben", at: .seconds(number)) == .tell)
    }
    #expect(limit.verdict(on: "13", about: "a", of: "ben", at: .seconds(20)) == .hold(beginsMinuteOf: "ben"))
    #expect(limit.verdict(on: "14", about: "b", of: "ben", at: .seconds(21)) == .hold(beginsMinuteOf: nil))
    #expect(limit.verdict(on: "15", about: "a", of: "ben", at: .seconds(22)) == .hold(beginsMinuteOf: nil))
    // Another peer's lines are shown; and held lines come before later ones, although there is room again.
    #expect(limit.verdict(on: "1", about: "a", of: "cleo", at: .seconds(22)) == .tell)
    #expect(limit.verdict(on: "16", about: "c", of: "ben", at: .seconds(75)) == .hold(beginsMinuteOf: nil))
    let summary = limit.summary(of: "ben", at: .seconds(80))
    #expect(summary.held.map(\.line) == ["14", "15", "16"] && summary.held.map(\.count) == [1, 2, 1])
    #expect(summary.otherCount == 0)
    #expect(limit.verdict(on: "17", about: "a", of: "ben", at: .seconds(80)) == .tell)
  }

  /// Whatever the order of subjects, the screen gets few lines a minute, and the counts include every event.
  @Test func ofManySubjectsFewAreToldAndTheOthersCounted() {
    var limit = Limit(), told = 0, minute: String?
    for number in 0..<1000 {
      switch limit.verdict(on: "\(number)", about: "\(number)", of: "eve", at: .zero) {
      case .tell: told += 1
      case .hold(let begins): if let begins { minute = begins }
      }
    }
    #expect(told == Limit.maximumPerPeriod && minute == "eve")
    let summary = limit.summary(of: "eve", at: .seconds(60))
    #expect(summary.held.map(\.line) == ["997", "998", "999"])
    #expect(told + summary.held.count + summary.otherCount == 1000)
  }

  @Test func peersWithoutEndShareOneCount() {
    var limit = Limit(), told = 0
    for number in 0..<10_000
    where limit.verdict(on: "x", about: "x", of: "eve \(number)", at: .zero) == .tell { told += 1 }
    #expect(told == Limit.maximumPeers + Limit.maximumPerPeriod)
  }

  @Test func theCountIsShownAndTheTitleGivesWay() {
    let title = String(repeating: "Budget ", count: 10)
    let message = NoteNews.access(.read, host: "Ben").message(title: title)
    #expect(NoteNews.counted(message, 1) == message)
    let counted = NoteNews.counted(message, 14)
    #expect(counted.count == NoteNews.maximumMessageLength)
    #expect(counted.hasPrefix("Ben made \"Budget Budg") && counted.hasSuffix("…\" read-only for you (14 changes)"))
    #expect(NoteNews.counted("Ben is online", 3) == "Ben is online (3 changes)")
  }
}

import Testing

@testable import NotesServer

struct QuietNewsTests {
  @Test func joiningIsOneLine() {
    var news = QuietNews()
    #expect(news.verdict(on: "online", of: "ben", at: .zero) == .after(.seconds(1)))
    #expect(news.verdict(on: "accepted", of: "ben", at: .milliseconds(50)) == .now)
    #expect(news.verdict(on: "joined", of: "ben", at: .milliseconds(80)) == .never)
    let isDue = news.isDue("online", of: "ben", at: .seconds(1))
    #expect(!isDue)
    // Another person's line is another event.
    #expect(news.verdict(on: "joined", of: "cleo", at: .milliseconds(90)) == .now)
  }

  @Test func comingOnlineIsToldWhenNothingElseIs() {
    var news = QuietNews()
    _ = news.verdict(on: "online", of: "ben", at: .zero)
    let isDue = news.isDue("online", of: "ben", at: .seconds(1))
    #expect(isDue)
    #expect(news.verdict(on: "joined", of: "ben", at: .seconds(2)) == .never)
    #expect(news.verdict(on: "joined", of: "ben", at: .seconds(20)) == .now)
  }

  @Test func closingANoteAndLeavingIsOneLine() {
    var news = QuietNews()
    #expect(news.verdict(on: "left", of: "ben", at: .zero) == .now)
    #expect(news.verdict(on: "offline", of: "ben", at: .seconds(1)) == .never)
    #expect(news.verdict(on: "offline", of: "ben", at: .seconds(30)) == .now)
  }

  @Test func warningsAreAlwaysTold() {
    var news = QuietNews()
    for kind in ["invited", "accepted", "declined", "forged", "keyChanged"] {
      #expect(news.verdict(on: kind, of: "ben", at: .zero) == .now)
    }
  }
}

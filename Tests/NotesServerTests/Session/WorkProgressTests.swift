import AutomergeRepo
import TestSupport
import Testing

@testable import NotesServer

/// The progress messages of a plain client about work that takes a while, decided by a value.
struct WorkProgressTests {
  private typealias Work = WorkProgress.Work

  private static let (tea, milk) = ("file:///notes/Tea.md", "file:///notes/Milk.md")
  private static let first = "notes-lsp-1"

  private static func receiving(_ percent: Int, of title: String = "Tea") -> Work {
    Work(kind: .receiving, title: "Receiving \"\(title)\"", message: "from Ana", percent: percent)
  }

  private static let opening = Work(kind: .opening, title: "Opening \"Tea\"", message: nil, percent: nil)

  /// A machine whose work at `tea` is shown at this percentage, at the time of `interval` before `now`.
  private static func shown(_ percent: Int) -> (WorkProgress, now: Duration) {
    var progress = WorkProgress()
    _ = progress.receive(.work(receiving(percent), of: tea), at: .zero)
    let asked = progress.receive(.timePassed, at: WorkProgress.patience)
    #expect(asked == [.create(token: first)])
    let begun = progress.receive(.answered(isAccepted: true), at: WorkProgress.patience)
    #expect(begun == [.begin(token: first, receiving(percent))])
    return (progress, WorkProgress.patience + WorkProgress.interval)
  }

  private static func person(_ name: String, received percent: Int?) -> PersonStatus {
    let person = PersonSummary(peer: PeerId(name), name: name, access: .write, isConnected: true)
    return PersonStatus(person: person, state: .behind, pending: 0, percentReceived: percent, forges: false)
  }

  @Test func whatArrivesIsNamedWithItsNoteAndPeople() {
    #expect(Work.receiving("Tea", from: [Self.person("Ana", received: nil)]) == nil)
    let work = Work.receiving("Tea", from: [Self.person("Bo", received: 50), Self.person("Ana", received: 34)])
    #expect(work == Work(kind: .receiving, title: "Receiving \"Tea\"", message: "from Ana, Bo", percent: 34))
    let many = Work.receiving("Tea", from: (0..<9).map { Self.person("P\($0)", received: 50) })
    #expect(many?.message == "from 9 people")
    #expect(Work.opening("Tea", waitsFor: nil) == Self.opening)
    #expect(Work.opening("Tea", waitsFor: "Ana").message == "waiting for Ana")
  }

  @Test func aPercentageThatIsNotKnownIsNotShown() {
    #expect(Work.receiving("Tea", from: [Self.person("Ana", received: 0)])?.percent == nil)
  }

  /// Titles and names come from peers.
  @Test func titlesAndNamesAreOneShortLine() {
    let long = String(repeating: "a\u{202E}\n", count: 1000)
    for work in [Work.opening(long, waitsFor: "b\n"), Work.receiving(long, from: [Self.person(long, received: 1)])] {
      let text = (work?.title ?? "\n") + (work?.message ?? "\n")
      #expect(text.count < 90 && !text.unicodeScalars.contains(where: OneLine.isHarmful), "\(text)")
    }
  }

  @Test func receivingThatIsSoonOverIsNotShown() {
    var progress = WorkProgress()
    #expect(progress.receive(.work(Self.receiving(3), of: Self.tea), at: .zero).isEmpty)
    #expect(progress.nextTime == WorkProgress.patience)
    #expect(progress.receive(.work(nil, of: Self.tea), at: .milliseconds(499)).isEmpty)
    #expect(progress.nextTime == nil && progress.isIdle)
    #expect(progress.receive(.timePassed, at: .seconds(1)).isEmpty)
  }

  @Test func anOpeningIsShownAtOnceBecauseItHasTakenItsTimeAlready() {
    var progress = WorkProgress()
    #expect(progress.receive(.work(Self.opening, of: Self.tea), at: .zero) == [.create(token: Self.first)])
    #expect(
      progress.receive(.answered(isAccepted: true), at: .zero) == [.begin(token: Self.first, Self.opening)])
    #expect(progress.receive(.work(nil, of: Self.tea), at: .seconds(1)) == [.end(token: Self.first)])
  }

  @Test func aReportFollowsEachChange() {
    var (progress, now) = Self.shown(3)
    #expect(progress.receive(.work(Self.receiving(3), of: Self.tea), at: now).isEmpty)
    let report = WorkProgress.Message.report(token: Self.first, Self.receiving(40))
    #expect(progress.receive(.work(Self.receiving(40), of: Self.tea), at: now) == [report])
    #expect(progress.receive(.work(nil, of: Self.tea), at: now) == [.end(token: Self.first)])
    #expect(progress.receive(.work(nil, of: Self.tea), at: now).isEmpty)
  }

  @Test func aReportThatComesTooSoonIsToldLaterAsItIsThen() {
    var (progress, now) = Self.shown(3)
    _ = progress.receive(.work(Self.receiving(40), of: Self.tea), at: now)
    #expect(progress.receive(.work(Self.receiving(41), of: Self.tea), at: now).isEmpty)
    #expect(progress.receive(.work(Self.receiving(50), of: Self.tea), at: now + .milliseconds(1)).isEmpty)
    let next = now + WorkProgress.interval
    #expect(progress.nextTime == next)
    #expect(
      progress.receive(.timePassed, at: next) == [.report(token: Self.first, Self.receiving(50))])
  }

  @Test func thePercentageDoesNotFall() {
    var (progress, now) = Self.shown(60)
    #expect(progress.receive(.work(Self.receiving(20), of: Self.tea), at: now).isEmpty)
    #expect(
      progress.receive(.work(Self.receiving(61), of: Self.tea), at: now)
        == [.report(token: Self.first, Self.receiving(61))])
  }

  @Test func anotherPieceOfWorkOnABufferEndsTheOneBefore() {
    var progress = WorkProgress()
    _ = progress.receive(.work(Self.opening, of: Self.tea), at: .zero)
    _ = progress.receive(.answered(isAccepted: true), at: .zero)
    #expect(
      progress.receive(.work(Self.receiving(0), of: Self.tea), at: .seconds(1)) == [.end(token: Self.first)])
    #expect(progress.receive(.timePassed, at: .milliseconds(1500)) == [.create(token: "notes-lsp-2")])
  }

  @Test func whatIsDoneBeforeTheClientHasAnsweredNeverBegins() {
    var progress = WorkProgress()
    _ = progress.receive(.work(Self.opening, of: Self.tea), at: .zero)
    #expect(progress.receive(.work(nil, of: Self.tea), at: .seconds(1)).isEmpty)
    #expect(progress.receive(.answered(isAccepted: true), at: .seconds(2)).isEmpty)
  }

  @Test func aClientThatDoesNotAnswerIsAskedOnce() {
    var progress = WorkProgress()
    var asked = 0
    for second in 0..<100 {
      asked += progress.receive(.work(Self.opening, of: Self.tea), at: .seconds(second)).count
      asked += progress.receive(.work(Self.receiving(1), of: Self.milk), at: .seconds(second)).count
      asked += progress.receive(.work(nil, of: Self.tea), at: .seconds(second)).count
      asked += progress.receive(.timePassed, at: .seconds(second)).count
    }
    #expect(asked == 1 && progress.nextTime == nil)
  }

  @Test func aClientThatRefusesIsShownNothingAnyMoreAndWhatItShowsEnds() {
    var (progress, now) = Self.shown(3)
    _ = progress.receive(.work(Self.opening, of: Self.milk), at: now)
    #expect(progress.receive(.answered(isAccepted: false), at: now) == [.end(token: Self.first)])
    #expect(progress.receive(.work(Self.opening, of: Self.milk), at: now + .seconds(9)).isEmpty)
    #expect(progress.isIdle && progress.nextTime == nil)
  }

  @Test func everyBufferHasItsTurnHoweverFastTheOthersAre() {
    var (progress, now) = Self.shown(0)
    _ = progress.receive(.work(Self.opening, of: Self.milk), at: now)
    _ = progress.receive(.answered(isAccepted: true), at: now)
    let waiting = Work(kind: .opening, title: Self.opening.title, message: "waiting for Ana", percent: nil)
    _ = progress.receive(.work(waiting, of: Self.milk), at: now)
    var told: [WorkProgress.Message] = []
    for percent in 1..<40 {
      now += .milliseconds(50)
      told += progress.receive(.work(Self.receiving(percent), of: Self.tea), at: now)
    }
    #expect(told.contains(.report(token: "notes-lsp-2", waiting)))
    #expect(told.count == 9, "five a second, in two seconds of which the first fifth belongs to the question")
  }

  /// A peer decides how much there is and how often; a client answers what and when it likes.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func whateverHappensWhatBeginsEndsAndFewMessagesAreSent(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var progress = WorkProgress()
    var (asked, begun, ended): (Set<String>, Set<String>, Set<String>) = ([], [], [])
    var (unasked, isRefused, now) = ([Duration](), false, Duration.zero)
    var unanswered = false
    func take(_ messages: [WorkProgress.Message]) {
      for message in messages {
        switch message {
        case .create(let token):
          #expect(asked.insert(token).inserted && !unanswered && !isRefused, "seed \(seed)")
          unanswered = true
          unasked.append(now)
        case .begin(let token, let work):
          #expect(asked.contains(token) && begun.insert(token).inserted, "seed \(seed)")
          #expect((0...100).contains(work.percent ?? 0))
        case .report(let token, _):
          #expect(begun.contains(token) && !ended.contains(token), "seed \(seed)")
          unasked.append(now)
        case .end(let token):
          #expect(begun.contains(token) && ended.insert(token).inserted, "seed \(seed)")
        }
      }
    }
    for _ in 0..<5000 {
      now += .milliseconds(Int.random(in: 0...20, using: &random))
      let uri = Bool.random(using: &random) ? Self.tea : Self.milk
      switch Int.random(in: 0..<40, using: &random) {
      case 0: take(progress.receive(.work(nil, of: uri), at: now))
      case 1: take(progress.receive(.work(Self.opening, of: uri), at: now))
      case 2...5:
        guard unanswered else { break }
        unanswered = false
        isRefused = seed % 5 == 0 && Int.random(in: 0..<20, using: &random) == 0
        take(progress.receive(.answered(isAccepted: !isRefused), at: now))
      default:
        let percent = Int.random(in: 0...99, using: &random)
        take(progress.receive(.work(Self.receiving(percent), of: uri), at: now))
      }
      if let time = progress.nextTime, time <= now { take(progress.receive(.timePassed, at: now)) }
    }
    take(progress.receive(.ended, at: now))
    #expect(begun == ended && (isRefused || begun.count > 5), "seed \(seed)")
    for (one, later) in zip(unasked, unasked.dropFirst()) {
      #expect(later - one >= WorkProgress.interval, "seed \(seed)")
    }
  }
}

import Testing

@testable import NotesServer

struct ImportProgressTests {
  @Test func aLongImportSaysOnceASecondHowFarItIsAndAShortOneNothing() {
    var progress = ImportProgress(total: 1000, at: .seconds(5))
    #expect(progress.step(at: .seconds(5)) == nil)
    #expect(progress.step(at: .milliseconds(5999)) == nil)
    #expect(progress.step(at: .seconds(6)) == "Importing… 2 of 1000")
    #expect(progress.step(at: .milliseconds(6500)) == nil)
    #expect(progress.step(at: .seconds(8)) == "Importing… 4 of 1000")
  }
}

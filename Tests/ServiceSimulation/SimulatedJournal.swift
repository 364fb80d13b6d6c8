import AutomergeRepo
import NotesServer

/// The journal of one process, and what it may do with those of the others.
@AutomergeRepo
final class SimulatedJournal: JournalAccess {
  private nonisolated let process: SimulatedProcess

  nonisolated init(_ process: SimulatedProcess) { self.process = process }

  nonisolated func append(_ bytes: [UInt8]) -> Int? {
    AutomergeRepo.assumeIsolated {
      guard process.isAlive else { return bytes.count }
      guard process.disk.failure == nil || process.disk.takesJournals else {
        process.journalIsBroken = true
        return nil
      }
      // A service that can write again starts with everything that the store may lack.
      process.journalIsBroken = false
      var journal = process.disk.journals[process.run] ?? SimulatedDisk.Journal()
      let last = journal.segments.keys.max() ?? 1
      journal.segments[last, default: []] += bytes
      process.disk.journals[process.run] = journal
      return journal.segments[last]?.count
    }
  }

  nonisolated func beginSegment() -> Int? {
    AutomergeRepo.assumeIsolated {
      guard process.isAlive, let last = process.disk.journals[process.run]?.segments.keys.max() else { return nil }
      process.disk.journals[process.run]?.segments[last + 1] = []
      return last + 1
    }
  }

  nonisolated func removeSegments(before number: Int) {
    AutomergeRepo.assumeIsolated {
      guard process.isAlive, let segments = process.disk.journals[process.run]?.segments else { return }
      process.disk.journals[process.run]?.segments = segments.filter { $0.key >= number }
    }
  }

  nonisolated func end() {
    AutomergeRepo.assumeIsolated { if process.isAlive { process.disk.journals[process.run] = nil } }
  }

  nonisolated func abandon() {
    AutomergeRepo.assumeIsolated {
      guard process.isAlive, var journal = process.disk.journals.removeValue(forKey: process.run) else { return }
      journal.isLocked = false
      let names = (1...).lazy.map { [process] in "\(process.run)-\($0)" }
      if let free = names.first(where: { process.disk.journals[$0] == nil }) { process.disk.journals[free] = journal }
    }
  }

  func read(_ run: String) async -> [UInt8]? {
    await process.waitForFiles()
    return process.disk.journals[run].map { journal in journal.segments.sorted { $0.key < $1.key }.flatMap(\.value) }
  }

  func deadRuns() async -> [String] {
    await process.waitForFiles()
    return process.disk.journals.filter { $0.key != process.run && !$0.value.isLocked }.keys.sorted()
  }

  func livingRuns() async -> [String] {
    await process.waitForFiles()
    return process.disk.journals.filter { $0.key != process.run && $0.value.isLocked }.keys.sorted()
  }

  func remove(_ run: String) async {
    await process.waitForFiles()
    if process.isAlive, process.disk.journals[run]?.isLocked == false { process.disk.journals[run] = nil }
  }
}

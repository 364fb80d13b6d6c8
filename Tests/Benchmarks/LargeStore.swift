import ArgumentParser
import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// A store of many notes: how soon a service answers on it, how soon it lists and searches them, and what memory it takes.
struct LargeStore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Start, list, search and memory on a store of many notes.")

  @Option(help: "How many notes there are.")
  var notes = 10_000

  @Option(help: "How many bytes each has.")
  var bytes = 5_000

  @Option(help: "How often the service is started; the median counts.")
  var repetitions = 5

  @Option(help: "How many notes are opened and closed before it is looked what memory is given back.")
  var opened = 200

  @OptionGroup var output: OutputOptions

  private var name: String { "\(notes) notes of \(bytes) bytes" }

  func run() throws {
    let user = try NotesUser("Ana")
    let ids = try fill(user)
    var (initialized, listed, again, searched, memory): ([Double], [Double], [Double], [Double], [Double]) =
      ([], [], [], [], [])
    for _ in 0..<repetitions {
      let start = ContinuousClock.now
      let process = try user.startInitialized()
      initialized.append((ContinuousClock.now - start) / .milliseconds(1))
      let list = try process.request("notes/list")
      listed.append((ContinuousClock.now - start) / .milliseconds(1))
      guard list["notes"]?.arrayValue?.count == notes else { throw ValidationError("the list is not whole") }
      again.append(try milliseconds { try process.request("notes/list") })
      memory.append(Self.residentMegabytes(process))
      searched.append(try milliseconds { try process.request("notes/list", ["query": "needle 4711 "]) })
      try process.shutdown()
    }
    report("start_to_initialize", initialized)
    report("start_to_list", listed)
    report("list", again)
    report("search_in_texts", searched)
    report("resident_after_list", memory, unit: "MB")
    try openAndClose(ids.suffix(opened), user)
  }

  /// Documents that were in use are let go: the memory before, with them, and after a while.
  private func openAndClose(_ ids: ArraySlice<String>, _ user: NotesUser) throws {
    let process = try user.startInitialized()
    for id in ids {
      let client = try ModelClient(process, note: process.request("notes/open", ["id": .string(id)]))
      client.edit(0..<0, with: "x")
      client.flush()
      client.close()
    }
    try process.waitFor("everything is stored") { try process.request("notes/status")["stored"] == true }
    report("documents_in_memory_after_\(ids.count)_were_open", [Double(try Self.documents(process))], unit: "documents")
    report("resident_with_these", [Self.residentMegabytes(process)], unit: "MB")
    let start = ContinuousClock.now
    try process.waitFor("the documents to be let go", within: .seconds(60)) {
      ChildProcess.waitForActivity(of: [process.child], until: .now + .milliseconds(500))
      return try Self.documents(process) == 0
    }
    report("until_all_were_let_go", [(ContinuousClock.now - start) / .seconds(1)], unit: "s")
    report("resident_after_that", [Self.residentMegabytes(process)], unit: "MB")
    try process.shutdown()
  }

  private static func documents(_ process: NotesProcess) throws -> Int {
    try process.request("notes/status")["documents"]?.intValue ?? 0
  }

  /// Makes the notes, many at a time. Returns their ids.
  private func fill(_ user: NotesUser) throws -> [String] {
    let process = try user.startInitialized()
    let line = "a line of forty-nine letters, as notes have them.\n"
    let text = String(repeating: line, count: max(bytes / line.utf8.count, 1))
    var answered = 0
    var seen = process.messages.count
    for number in 0..<notes {
      _ = process.startRequest(
        "notes/create", ["title": .string("Note \(number)"), "text": .string("needle \(number) \n" + text)])
      guard number % 100 == 99 || number == notes - 1 else { continue }
      try process.waitFor("the notes to be made", within: .seconds(120)) {
        answered += process.messages[seen...].count { $0["result"] != nil }
        seen = process.messages.count
        return answered > number
      }
    }
    let ids = process.messages.compactMap { $0["result"]?["id"]?.stringValue }
    try process.shutdown()
    return ids
  }

  private func milliseconds(_ work: () throws -> JSONValue) throws -> Double {
    let start = ContinuousClock.now
    _ = try work()
    return (ContinuousClock.now - start) / .milliseconds(1)
  }

  private func report(_ measure: String, _ samples: [Double], unit: String = "ms") {
    Measure(trace: name, name: measure, unit: unit, samples: samples).print(asJSON: output.json)
  }

  private static func residentMegabytes(_ process: NotesProcess) -> Double {
    let status = (try? String(contentsOfFile: "/proc/\(process.child.processId)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return Double(line.split(separator: " ").dropLast().last ?? "").map { $0 / 1024 } ?? .nan
  }
}

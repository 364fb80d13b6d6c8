import ArgumentParser
import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// Several services of one person on one store, typed into at a time: whether they end equal with every word, and how long
/// the store takes to commit.
struct ManyWriters: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "writers", abstract: "Several processes typing into one note of one store.")

  @Option(help: "How many processes there are.")
  var processes = 4

  @Option(help: "For how many seconds they are typed into.")
  var seconds = 60

  @Option(help: "How many milliseconds lie between two keys of one typist.")
  var interval = 100

  @OptionGroup var output: OutputOptions

  func run() throws {
    let user = try NotesUser("Ana")
    let first = try user.startInitialized()
    let note = try first.request("notes/create", ["title": "Writers", "text": "x\n"])
    var clients = [try ModelClient(first, note: note)]
    for _ in 1..<processes {
      let process = try user.startInitialized()
      clients.append(
        try ModelClient(process, note: process.request("notes/open", ["id": note["id"] ?? .null])))
    }
    try ModelClient.waitForConvergence(clients)
    let words = try type(into: clients)
    let start = ContinuousClock.now
    try ModelClient.waitForConvergence(clients, within: .seconds(60))
    let settled = (ContinuousClock.now - start) / .milliseconds(1)
    var commits: [Double] = []
    for client in clients {
      try client.process.waitFor("everything is stored") {
        try client.process.request("notes/status", ["uri": .string(client.uri)])["stored"] == true
      }
      let status = try client.process.request("notes/status")
      commits += (status["commits"]?["p99"]?.doubleValue).map { [$0] } ?? []
    }
    let text = clients[0].text.string
    let lost = words - text.utf8.count { $0 == UInt8(ascii: ">") }
    let complaints = clients.flatMap(\.complaints)
    guard lost == 0, clients.allSatisfy({ $0.text.string == text }), complaints.isEmpty else {
      throw ValidationError("\(lost) words lost, or the buffers differ: \(complaints)")
    }
    for client in clients { try client.process.kill() }
    guard try user.storedText(of: clients[0].id) == text else { throw ValidationError("the store has another text") }
    let name = "\(processes) processes, \(seconds) s"
    Measure(trace: name, name: "words_typed_none_lost", unit: "words", samples: [Double(words)]).print(
      asJSON: output.json)
    Measure(trace: name, name: "commit_p99_of_the_slowest", samples: [commits.max() ?? .nan])
      .print(asJSON: output.json)
    Measure(trace: name, name: "equal_after_the_last_key", samples: [settled]).print(asJSON: output.json)
  }

  /// Each types a short word at a place of its own choice, at its own pace.
  private func type(into clients: [ModelClient]) throws -> Int {
    var random = SeededGenerator(seed: 71)
    var words = 0
    let end = ContinuousClock.now + .seconds(seconds)
    var next = ContinuousClock.now
    while next < end {
      for (index, client) in clients.enumerated() {
        let offset = client.text.scalarStart(at: Int.random(in: 0...client.text.bytes.count, using: &random))
        client.edit(offset..<offset, with: "<\(index).\(words)>")
        client.flush()
        words += 1
      }
      next += .milliseconds(interval)
      while ContinuousClock.now < next {
        for client in clients { try client.process.collect() }
        ChildProcess.waitForActivity(of: clients.map(\.process.child), until: next)
      }
    }
    return words
  }
}

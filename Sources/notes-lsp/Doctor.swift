import ArgumentParser
import AutomergeRepo
import Foundation
import NotesServer
import PeerNetwork
import UV

/// `notes-lsp doctor`: what works here and what does not, one line each, with what to do about it.
struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check this machine: what works, what does not, and what to do about it.",
    discussion: """
      Looks at the store, the key, the clock, the network and the editors, and listens for people nearby for two seconds. \
      Exit code 1 if something needs attention.
      """)

  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    let diagnostics = AutomergeRepo.assumeIsolated {
      Diagnostics(home: store.homeDirectory, notes: store.notesDirectory, loop: loop)
    }
    AutomergeRepo.assumeIsolated { diagnostics.run { loop.stop() } }
    loop.run()
    let findings = AutomergeRepo.assumeIsolated { diagnostics.findings }
    loop.closeHandles()
    if json {
      try Output.print(json: findings)
    } else {
      for finding in findings {
        let subject = finding.subject + String(repeating: " ", count: max(0, 10 - finding.subject.count))
        Output.print(line: "\(finding.isGood ? "ok  " : "!!  ")\(subject) \(Output.field(finding.text))")
        if let advice = finding.advice { Output.print(line: "                → \(Output.field(advice))") }
      }
    }
    if findings.contains(where: { !$0.isGood }) { throw ExitCode(1) }
  }
}

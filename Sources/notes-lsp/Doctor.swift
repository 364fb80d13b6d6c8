import ArgumentParser
import AutomergeRepo
import Foundation
import NotesServer
import PeerNetwork
import UV

/// `notes-lsp doctor`: what works here and what does not, one line each, with what to do about it.
struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Look at this machine: store, key, network, people nearby, clock, editors.",
    discussion: "Listens for people nearby for two seconds. Exit code 1 if something needs attention.")

  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    let examination = AutomergeRepo.assumeIsolated { Examination(home: store.homeDirectory, loop: loop) }
    AutomergeRepo.assumeIsolated { examination.run { loop.stop() } }
    loop.run()
    let findings = AutomergeRepo.assumeIsolated { examination.findings }
    loop.closeHandles()
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(findings), as: UTF8.self))
    } else {
      for finding in findings {
        let subject = finding.subject + String(repeating: " ", count: max(0, 10 - finding.subject.count))
        print("\(finding.isGood ? "ok  " : "!!  ")\(subject) \(finding.text)")
        if let advice = finding.advice { print("                → \(advice)") }
      }
    }
    if findings.contains(where: { !$0.isGood }) { throw ExitCode(1) }
  }
}

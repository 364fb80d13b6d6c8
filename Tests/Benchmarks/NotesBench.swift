import ArgumentParser

/// Measures what people wait for, and what the document costs.
@main
struct NotesBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes-bench",
    abstract: "Measures keystrokes between two services, and editing traces in the document.",
    subcommands: [
      ReplayTraces.self, ReplayConcurrent.self, HardCases.self, AllMeasures.self, KeystrokeLatency.self,
      NoteMeasures.self, HugeNote.self, GrowthPlot.self, ModelGrowth.self, LargeStore.self, ManyWriters.self,
      JoinLatency.self,
      ManyPeers.self, OpeningTexts.self,
      MemoryProbe.self, SiegeLatency.self, ScreenLatency.self, ServerLoad.self, IdleServer.self,
    ],
    defaultSubcommand: ReplayTraces.self)
}

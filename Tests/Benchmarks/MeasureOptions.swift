import ArgumentParser

struct OutputOptions: ParsableArguments {
  @Flag(help: "Print one JSON line per measure.")
  var json = false
}

struct MeasureOptions: ParsableArguments {
  @Option(help: "How often each measure is taken; the median counts.")
  var repetitions = 5

  @Option(parsing: .upToNextOption, help: "Only measures whose names begin so.")
  var only: [String] = []

  @OptionGroup var output: OutputOptions
}

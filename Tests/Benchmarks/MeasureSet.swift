import Foundation

/// Takes measures of one subject, prints each as it is known, and keeps them for a table.
final class MeasureSet {
  let trace: String
  /// Only measures whose name begins with one of these; all if there is none.
  private let wanted: [String]
  let repetitions: Int
  private let asJSON: Bool
  private(set) var measures: [Measure] = []

  init(trace: String, _ options: MeasureOptions) {
    self.trace = trace
    (wanted, repetitions, asJSON) = (options.only, max(options.repetitions, 1), options.output.json)
  }

  func wants(_ name: String) -> Bool { wanted.isEmpty || wanted.contains { name.hasPrefix($0) } }

  /// Measures the processor time of some work a few times and checks what came out each time.
  func time<Input, Result>(
    _ name: String, repetitions count: Int? = nil, setUp: () throws -> Input, _ work: (Input) throws -> Result,
    check: (Result) throws -> Void = { _ in }
  ) throws {
    guard wants(name) else { return }
    var milliseconds: [Double] = []
    for _ in 0..<(count ?? repetitions) {
      let input = try setUp()
      let start = processorMilliseconds()
      let result = try work(input)
      milliseconds.append(processorMilliseconds() - start)
      try check(result)
    }
    add(Measure(trace: trace, name: name, samples: milliseconds))
  }

  func time<Result>(
    _ name: String, repetitions count: Int? = nil, _ work: () throws -> Result,
    check: (Result) throws -> Void = { _ in }
  ) throws {
    try time(name, repetitions: count, setUp: {}, { try work() }, check: check)
  }

  func size(_ name: String, byteCount: Int) {
    guard wants(name) else { return }
    add(Measure(trace: trace, name: name, unit: "bytes", samples: [Double(byteCount)]))
  }

  func add(_ measure: Measure) {
    measures.append(measure)
    measure.print(asJSON: asJSON)
  }
}

import Foundation
import TestSupport

@testable import PostgresStorage

enum Digest {
  static func hexadecimal(_ data: Data) -> String { Hex.text(WriteStep.hash(data)) }
}

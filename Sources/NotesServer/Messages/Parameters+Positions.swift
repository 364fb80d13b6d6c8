import JSONRPC

extension Parameters {
  func positionRange(_ field: String) throws(ResponseError) -> PositionRange { try PositionRange(object(field)) }

  func positionRangeIfPresent(_ field: String) throws(ResponseError) -> PositionRange? {
    try objectIfPresent(field).map { range throws(ResponseError) in try PositionRange(range) }
  }
}

extension PositionRange {
  init(_ range: Parameters) throws(ResponseError) {
    self.init(start: try Position(range.object("start")), end: try Position(range.object("end")))
  }
}

extension Position {
  init(_ position: Parameters) throws(ResponseError) {
    self.init(line: try position.nonNegativeInt("line"), character: try position.nonNegativeInt("character"))
  }
}

import Foundation

/// A value that is not an object. Names and cases as in automerge-swift.
public enum ScalarValue: Hashable, Sendable {
  case Bytes(Data)
  case String(String)
  case Uint(UInt64)
  case Int(Int64)
  case F64(Double)
  case Counter(Int64)
  case Timestamp(Date)
  case Boolean(Bool)
  case Unknown(typeCode: UInt8, data: Data)
  case Null
}

/// What stands at a key or an index.
public enum Value: Hashable, Sendable {
  case Object(ObjId, ObjType)
  case Scalar(ScalarValue)
}

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

extension ScalarValue {
  /// Numbers are equal as for `Double`, except that not-a-number equals itself: every value equals its copy.
  public static func == (left: ScalarValue, right: ScalarValue) -> Bool {
    switch (left, right) {
    case (.Bytes(let left), .Bytes(let right)): left == right
    case (.String(let left), .String(let right)): left == right
    case (.Uint(let left), .Uint(let right)): left == right
    case (.Int(let left), .Int(let right)), (.Counter(let left), .Counter(let right)): left == right
    case (.F64(let left), .F64(let right)): left == right || left.isNaN && right.isNaN
    case (.Timestamp(let left), .Timestamp(let right)): left == right
    case (.Boolean(let left), .Boolean(let right)): left == right
    case (.Unknown(let leftCode, let left), .Unknown(let rightCode, let right)): leftCode == rightCode && left == right
    case (.Null, .Null): true
    case (.Bytes, _), (.String, _), (.Uint, _), (.Int, _), (.F64, _), (.Counter, _), (.Timestamp, _), (.Boolean, _),
      (.Unknown, _), (.Null, _):
      false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .Bytes(let value): hasher.combine(value)
    case .String(let value): hasher.combine(value)
    case .Uint(let value): hasher.combine(value)
    case .Int(let value), .Counter(let value): hasher.combine(value)
    case .F64(let value): hasher.combine(value.isNaN ? .nan : value)
    case .Timestamp(let value): hasher.combine(value)
    case .Boolean(let value): hasher.combine(value)
    case .Unknown(let code, let value):
      hasher.combine(code)
      hasher.combine(value)
    case .Null: break
    }
  }
}

extension ScalarValue: CustomStringConvertible {
  /// The type and the value, such as `String(abc)` or `UInt(1)`. For bytes, the first 16 in hexadecimal.
  public var description: String {
    func hexadecimal(_ data: Data) -> String { ActorId(bytes: data).hexadecimal }
    return switch self {
    case .Bytes(let value): "Data(\(hexadecimal(value.prefix(16)))\(value.count > 16 ? "…" : ""))"
    case .String(let value): "String(\(value))"
    case .Uint(let value): "UInt(\(value))"
    case .Int(let value): "Int(\(value))"
    case .F64(let value): "Double(\(value))"
    case .Counter(let value): "Counter(\(value))"
    case .Timestamp(let value): "Timestamp(\(value))"
    case .Boolean(let value): "Boolean(\(value))"
    case .Unknown(let code, let value): "Unknown(type: \(code), data: \(hexadecimal(value)))"
    case .Null: "Null()"
    }
  }
}

/// A value at a key or an index.
public enum Value: Hashable, Sendable {
  case Object(ObjId, ObjType)
  case Scalar(ScalarValue)
}

extension Value: CustomDebugStringConvertible {
  public var debugDescription: String {
    switch self {
    case .Object(let object, let type): "Object<\(object), \(type)>"
    case .Scalar(let scalar): "ScalarValue<\(scalar)>"
    }
  }
}

import Foundation

/// A type whose values are stored in a document as one scalar value: each is written as a whole, and the last writer
/// wins.
public protocol ScalarValueRepresentable {
  /// Why a scalar value cannot be converted to this type.
  associatedtype ConvertError: LocalizedError

  /// Converts `val`. Fails if it is of another type or does not fit.
  static func fromScalarValue(_ val: ScalarValue) -> Result<Self, ConvertError>

  func toScalarValue() -> ScalarValue
}

extension ScalarValue: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<ScalarValue, ScalarValueConversionError> {
    .success(val)
  }

  public func toScalarValue() -> ScalarValue { self }
}

extension Bool: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Bool, BooleanScalarConversionError> {
    guard case .Boolean(let value) = val else { return .failure(.notboolScalarValue(val)) }
    return .success(value)
  }

  public func toScalarValue() -> ScalarValue { .Boolean(self) }
}

extension String: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<String, StringScalarConversionError> {
    guard case .String(let value) = val else { return .failure(.notstringScalarValue(val)) }
    return .success(value)
  }

  public func toScalarValue() -> ScalarValue { .String(self) }
}

/// A URL is stored as its absolute string.
extension URL: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<URL, URLScalarConversionError> {
    guard case .String(let text) = val else { return .failure(.notStringScalarValue(val)) }
    guard let url = URL(string: text) else { return .failure(.notMatchingURLScheme(text)) }
    return .success(url)
  }

  public func toScalarValue() -> ScalarValue { .String(absoluteString) }
}

extension Data: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Data, BytesScalarConversionError> {
    guard case .Bytes(let value) = val else { return .failure(.notbytesScalarValue(val)) }
    return .success(value)
  }

  public func toScalarValue() -> ScalarValue { .Bytes(self) }
}

/// A date is stored to the millisecond.
extension Date: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Date, TimestampScalarConversionError> {
    guard case .Timestamp(let value) = val else { return .failure(.notTimetampScalarValue(val)) }
    return .success(value)
  }

  public func toScalarValue() -> ScalarValue { .Timestamp(self) }
}

extension Double: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Double, FloatingPointScalarConversionError> {
    guard case .F64(let value) = val else { return .failure(.notF64ScalarValue(val)) }
    return .success(value)
  }

  public func toScalarValue() -> ScalarValue { .F64(self) }
}

/// When it is read, the value is rounded to the nearest `Float`.
extension Float: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Float, FloatingPointScalarConversionError> {
    guard case .F64(let value) = val else { return .failure(.notF64ScalarValue(val)) }
    return .success(Float(value))
  }

  public func toScalarValue() -> ScalarValue { .F64(Double(self)) }
}

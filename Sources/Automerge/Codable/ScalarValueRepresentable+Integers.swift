// Signed integers are stored as `Int`, unsigned ones as `Uint`. Converting fails for a number that does not fit the
// requested type, and for one of the other signedness: the two are different values in a document.

extension FixedWidthInteger {
  fileprivate static func signed(_ val: ScalarValue) -> Result<Self, IntScalarConversionError> {
    guard case .Int(let value) = val, let result = Self(exactly: value) else {
      return .failure(.notIntScalarValue(val))
    }
    return .success(result)
  }

  fileprivate static func unsigned(_ val: ScalarValue) -> Result<Self, IntScalarConversionError> {
    guard case .Uint(let value) = val, let result = Self(exactly: value) else {
      return .failure(.notIntScalarValue(val))
    }
    return .success(result)
  }
}

extension Int: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Int, IntScalarConversionError> { signed(val) }
  public func toScalarValue() -> ScalarValue { .Int(Int64(self)) }
}

extension Int8: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Int8, IntScalarConversionError> { signed(val) }
  public func toScalarValue() -> ScalarValue { .Int(Int64(self)) }
}

extension Int16: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Int16, IntScalarConversionError> { signed(val) }
  public func toScalarValue() -> ScalarValue { .Int(Int64(self)) }
}

extension Int32: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Int32, IntScalarConversionError> { signed(val) }
  public func toScalarValue() -> ScalarValue { .Int(Int64(self)) }
}

extension Int64: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<Int64, IntScalarConversionError> { signed(val) }
  public func toScalarValue() -> ScalarValue { .Int(self) }
}

extension UInt: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<UInt, UIntScalarConversionError> {
    guard case .Uint(let value) = val, let result = UInt(exactly: value) else {
      return .failure(.notUIntScalarValue(val))
    }
    return .success(result)
  }

  public func toScalarValue() -> ScalarValue { .Uint(UInt64(self)) }
}

extension UInt8: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<UInt8, IntScalarConversionError> { unsigned(val) }
  public func toScalarValue() -> ScalarValue { .Uint(UInt64(self)) }
}

extension UInt16: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<UInt16, IntScalarConversionError> { unsigned(val) }
  public func toScalarValue() -> ScalarValue { .Uint(UInt64(self)) }
}

extension UInt32: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<UInt32, IntScalarConversionError> { unsigned(val) }
  public func toScalarValue() -> ScalarValue { .Uint(UInt64(self)) }
}

extension UInt64: ScalarValueRepresentable {
  public static func fromScalarValue(_ val: ScalarValue) -> Result<UInt64, IntScalarConversionError> { unsigned(val) }
  public func toScalarValue() -> ScalarValue { .Uint(self) }
}

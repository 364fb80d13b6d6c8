import Foundation

// Why a scalar value cannot be converted to a Swift type. Names and cases as in automerge-swift; each case carries the
// value.

/// Every scalar value is a `ScalarValue`, so this error cannot occur.
public enum ScalarValueConversionError: LocalizedError, Hashable, Sendable {}

public enum BooleanScalarConversionError: LocalizedError, Hashable, Sendable {
  case notboolScalarValue(_ val: ScalarValue)

  public var errorDescription: String? {
    switch self {
    case .notboolScalarValue(let value): "\(value) is not a Boolean"
    }
  }
}

public enum StringScalarConversionError: LocalizedError, Hashable, Sendable {
  case notstringScalarValue(_ val: ScalarValue)

  public var errorDescription: String? {
    switch self {
    case .notstringScalarValue(let value): "\(value) is not a string"
    }
  }
}

public enum URLScalarConversionError: LocalizedError, Hashable, Sendable {
  case notStringScalarValue(_ val: ScalarValue)
  /// A string that is not a URL.
  case notMatchingURLScheme(String)

  public var errorDescription: String? {
    switch self {
    case .notStringScalarValue(let value): "\(value) is not a string, as a URL must be"
    case .notMatchingURLScheme(let text): "“\(text)” is not a URL"
    }
  }
}

public enum BytesScalarConversionError: LocalizedError, Hashable, Sendable {
  case notbytesScalarValue(_ val: ScalarValue)

  public var errorDescription: String? {
    switch self {
    case .notbytesScalarValue(let value): "\(value) is not bytes"
    }
  }
}

public enum UIntScalarConversionError: LocalizedError, Hashable, Sendable {
  case notUIntScalarValue(_ val: ScalarValue)

  public var errorDescription: String? {
    switch self {
    case .notUIntScalarValue(let value): "\(value) is not an unsigned integer of that size"
    }
  }
}

public enum IntScalarConversionError: LocalizedError, Hashable, Sendable {
  case notIntScalarValue(_ val: ScalarValue)

  public var errorDescription: String? {
    switch self {
    case .notIntScalarValue(let value): "\(value) is not an integer of that size and signedness"
    }
  }
}

public enum FloatingPointScalarConversionError: LocalizedError, Hashable, Sendable {
  case notF64ScalarValue(_ val: ScalarValue)

  public var errorDescription: String? {
    switch self {
    case .notF64ScalarValue(let value): "\(value) is not a floating-point number"
    }
  }
}

public enum TimestampScalarConversionError: LocalizedError, Hashable, Sendable {
  case notTimetampScalarValue(_ val: ScalarValue)

  public var errorDescription: String? {
    switch self {
    case .notTimetampScalarValue(let value): "\(value) is not a point in time"
    }
  }
}

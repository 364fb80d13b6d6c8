import Foundation

// One line about each error, for programs that show `localizedDescription`.

extension UVError: LocalizedError {
  public var errorDescription: String? { message }
}

extension ConnectError: LocalizedError {
  public var errorDescription: String? { description }
}

extension WriteError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .queueFull(let count, let limit):
      "the other side reads too slowly: \(count) bytes of at most \(limit) wait already"
    case .closed: "the connection is closed"
    case .failed(let error): error.message
    }
  }
}

#if canImport(SwiftUI)
  import SwiftUI

  extension AutomergeText {
    /// A binding to the string, for a view that edits it.
    public func textBinding() -> Binding<String> {
      Binding(get: { self.value }, set: { self.value = $0 })
    }
  }

  extension Counter {
    /// A binding to the number, for a view that changes it.
    public func valueBinding() -> Binding<Int> {
      Binding(get: { self.value }, set: { self.value = $0 })
    }
  }
#endif

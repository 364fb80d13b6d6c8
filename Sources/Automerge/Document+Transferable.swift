#if canImport(CoreTransferable) && canImport(UniformTypeIdentifiers)
  import CoreTransferable
  import UniformTypeIdentifiers

  extension UTType {
    /// A saved document, as automerge-swift names its type.
    public static var automerge: UTType { UTType(importedAs: "com.github.automerge", conformingTo: .data) }
  }

  extension Document: Transferable {
    /// The saved document.
    public static var transferRepresentation: some TransferRepresentation {
      DataRepresentation(contentType: .automerge) { document in
        document.save()
      } importing: { data in
        try Document(data)
      }
    }
  }
#endif

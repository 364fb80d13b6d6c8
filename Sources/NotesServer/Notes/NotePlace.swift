import AutomergeRepo
import JSONRPC

/// Where a note is, and what this person may do with it; for a meeting, all items, and the first one's place.
struct NotePlace: RequestResult {
  let id: DocumentId
  let title: String
  let item: String?
  let path: String?
  let access: Access
  let folder: String?
  let items: [ItemPlace]?
  /// The name of the person who was looked for, and is there.
  var near: String?

  @AutomergeRepo
  init(_ record: NoteRecord, _ service: Service) {
    (id, title, item, folder) = (record.id, record.title, record.item, record.folder)
    items = record.folder == nil ? nil : service.repo.handle(of: record.id).map { ItemPlace.all(of: $0, service) }
    path = record.path ?? items?.first?.path ?? record.folder
    access = service.sharing.access(to: record.id)
  }

  var json: JSONValue { .object(members) }

  var members: JSONObject {
    let json = JSONValue.object(present: [
      "id": .string(id.description), "item": item.map(JSONValue.string),
      "uri": path.map { .string(FileURI.uri(path: $0)) }, "path": path.map(JSONValue.string),
      "access": .string(access.rawValue), "folder": folder.map(JSONValue.string),
      "items": items.map { .array($0.map(\.json)) }, "near": near.map(JSONValue.string),
    ])
    return json.objectValue ?? [:]
  }
}

/// Where an item of a meeting is. One without a file has no path.
struct ItemPlace {
  let item: String
  let title: String
  let path: String?

  /// The items in the agenda's order.
  @AutomergeRepo
  static func all(of handle: DocHandle, _ service: Service) -> [ItemPlace] {
    (MeetingDocument(handle.document)?.items ?? []).map { item in
      let record = service.notebook[NoteKey(handle.id, item: item.id)]
      return ItemPlace(item: item.id, title: item.title, path: record?.path)
    }
  }

  var json: JSONValue {
    .object(present: [
      "item": .string(item), "title": .string(title), "uri": path.map { .string(FileURI.uri(path: $0)) },
      "path": path.map(JSONValue.string),
    ])
  }
}

/// What an encoder may do to a document whose containers are not those of the value to be written.
public enum SchemaStrategy: Hashable, Sendable {
  /// Makes maps, lists and texts where nothing stands; refuses to put one in the place of something else.
  case createWhenNeeded
  /// Makes them whatever stands there. What stood there is gone from the document's present, not from its history.
  case override
  /// Changes values and texts that are there already; makes no container, adds no key and no element.
  case readonly
}

/// What an encoder needs at the end of a path.
enum EncodingContainerType: Hashable, Sendable {
  /// A map.
  case Key
  /// A list.
  case Index
  /// Any place; the map or list that has it is meant.
  case Value
}

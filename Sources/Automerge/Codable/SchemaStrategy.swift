/// What an encoder may do to a document whose containers differ from those of the value to be written.
public enum SchemaStrategy: Hashable, Sendable {
  /// Makes maps, lists and texts at empty places; refuses to replace something else by one.
  case createWhenNeeded
  /// Makes them in any place. What they replace is gone from the document's present, but not from its history.
  case override
  /// Changes values and texts that exist; makes no container, and adds no key and no element.
  case readonly
}

/// What an encoder needs at the end of a path.
enum EncodingContainerType: Hashable, Sendable {
  /// A map.
  case Key
  /// A list.
  case Index
  /// Any place: the map or list that contains it.
  case Value
}

/// The store that `--store` names: a directory or a database.
public enum StoreLocation: Hashable, Sendable {
  case directory(String)
  case postgres(PostgresURL)

  public init(_ text: String) throws(PostgresURL.Invalid) {
    self = PostgresURL.hasScheme(text) ? .postgres(try PostgresURL(text)) : .directory(text)
  }
}

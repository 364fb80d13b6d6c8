import AutomergeRepo

/// The tables of a store, in the schema `notes_lsp`.
///
///     chunk      immutable rows, named by their content: parts of a document
///     record     every other key and its value
///     damaged    bytes that did not match their name, for a person to inspect
///     writer     each process's number of its last commit: see `WriterClaim`
///     process    the processes that are running: see `StoreHeartbeat`
///
/// All of them begin their keys with what tells documents apart, so both large ones may be partitioned. Source: Storage.md,
/// "PostgreSQL".
enum PostgresSchema {
  /// Increase it when an older notes-lsp would misunderstand the tables.
  static let version = 1
  /// Values are stored in rows of at most this many bytes, so that no message is so long that it delays the loop.
  static let partByteCount = 256 << 10
  /// `note` in ASCII: distinguishes our advisory locks from those of other programs.
  static let lockClass = 0x6E6F_7465
  /// The longest key, as text: a third of the limit of an index page.
  private static let maximumKeyByteCount = 2048

  /// The form of a key in the tables.
  static func text(of key: StorageKey) throws(StorageError) -> String {
    try StorageKeyText.encode(key, maximumByteCount: maximumKeyByteCount)
  }

  /// Serializes processes that make the schema at the same time. Used only before the tables exist.
  static let lockForCreation = "SELECT pg_advisory_xact_lock(\(lockClass), 0)"

  /// A row of: whether there is a schema of this name, and whether it has a version. Looks into the tables, because the
  /// result of `to_regclass` is remembered until the transaction ends.
  static let look = """
    SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'notes_lsp'), EXISTS (
      SELECT FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space ON space.oid = class.relnamespace
      WHERE space.nspname = 'notes_lsp' AND class.relname = 'version')
    """
  static let readVersion = "SELECT number FROM notes_lsp.version"

  /// Bytes of chunks are compressed already, so PostgreSQL need not try. A `writer` row is updated in each transaction,
  /// and stays on its page.
  static let creation = [
    "CREATE SCHEMA notes_lsp",
    "CREATE TABLE notes_lsp.version (number integer NOT NULL)",
    "INSERT INTO notes_lsp.version VALUES (\(version))",
    """
    CREATE TABLE notes_lsp.chunk (
      document text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      sha256 bytea NOT NULL,
      part integer NOT NULL,
      bytes bytea NOT NULL,
      writer uuid NOT NULL,
      transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
      PRIMARY KEY (document, kind, sha256, part))
    """,
    "ALTER TABLE notes_lsp.chunk ALTER COLUMN bytes SET STORAGE EXTERNAL",
    "CREATE INDEX chunk_transaction ON notes_lsp.chunk (transaction)",
    """
    CREATE TABLE notes_lsp.record (
      key text COLLATE "C" NOT NULL,
      part integer NOT NULL,
      sha256 bytea NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (key, part)) WITH (fillfactor = 80)
    """,
    """
    CREATE TABLE notes_lsp.damaged (
      key text COLLATE "C" NOT NULL,
      bytes bytea NOT NULL,
      found timestamptz NOT NULL DEFAULT now())
    """,
    """
    CREATE TABLE notes_lsp.writer (
      id uuid PRIMARY KEY,
      epoch bigint NOT NULL,
      number bigint NOT NULL,
      seen timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 10)
    """,
    """
    CREATE TABLE notes_lsp.process (
      id uuid PRIMARY KEY,
      addresses text NOT NULL,
      key text NOT NULL,
      beat timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 50)
    """,
  ]
}

import PostgresStorage
import Testing

struct PostgresURLTests {
  @Test(arguments: [
    ("postgres://ana@db.example:5433/notes", "postgres://ana@db.example:5433/notes"),
    ("postgresql://ana:secret@db.example/notes", "postgres://ana@db.example/notes"),
    ("postgres:///notes?host=/run/postgresql", "postgres:///run/postgresql/notes"),
  ])
  func aURLIsShownWithoutItsPassword(text: String, shown: String) throws {
    #expect(try PostgresURL(text).description == shown)
  }

  @Test(arguments: ["postgres:///db?unknown=1", "postgres://[::1/db", "http://x/", "postgres"])
  func whatIsNoURLIsRefusedWithTheReason(text: String) {
    let error = #expect(throws: PostgresURL.Invalid.self) { try PostgresURL(text) }
    #expect(error?.description.isEmpty == false)
    #expect(error?.description.contains("\n") == false)
  }

  @Test func aStoreIsADirectoryOrADatabase() throws {
    #expect(try StoreLocation("/srv/notes") == .directory("/srv/notes"))
    #expect(try StoreLocation("postgres") == .directory("postgres"))
    #expect(try StoreLocation("postgres:///db") == .postgres(PostgresURL("postgres:///db")))
    #expect(throws: PostgresURL.Invalid.self) { try StoreLocation("postgres:///db?unknown=1") }
  }
}

// The ways to keep values that the script peers compares.
import CSQLite
import Foundation
import Larder

#if canImport(GRDB)
  import GRDB
#endif

/// A store of values in a directory that is its own.
protocol Store {
  static var title: String { get }
  init(directory: String) throws
  func store(_ value: [UInt8], forKey key: String) throws
  /// Reads a value into an array and returns its number of bytes; nil if there is none.
  func read(forKey key: String) throws -> Int?
  func removeHalf() throws
  /// Waits for what a store does after it was opened.
  func finishOpening() throws
}

extension Store {
  func finishOpening() throws {}
}

struct Failure: Error {
  let what: String
}

struct LarderStore: Store {
  static let title = "Larder"
  let disk: DiskCache

  init(directory: String) throws {
    disk = try DiskCache(
      directory: directory, configuration: DiskCache.Configuration(sizeLimit: nil))
  }

  func store(_ value: [UInt8], forKey key: String) throws { try disk.store(value, forKey: key) }
  func read(forKey key: String) throws -> Int? { try disk.value(forKey: key)?.count }
  func removeHalf() throws { try disk.trim(toCount: disk.count() / 2) }
  func finishOpening() throws { _ = try disk.count() }
}

/// Files as caches for Apple's systems write them: a rename for each store, and the use and the
/// expiry in the file's dates. Removes the files that were used longest ago.
struct FoundationFiles: Store {
  static let title = "files, Foundation"
  let directory: URL

  init(directory: String) throws {
    self.directory = URL(fileURLWithPath: directory, isDirectory: true)
  }

  private func file(_ key: String) -> URL {
    // A name without a hash, which costs less than one.
    directory.appendingPathComponent(key.replacingOccurrences(of: "/", with: "_"))
  }

  func store(_ value: [UInt8], forKey key: String) throws {
    let file = file(key)
    do {
      try Data(value).write(to: file, options: .atomic)
    } catch {
      // One in some hundred thousand fails with EINVAL, also when it is tried again.
      FileHandle.standardError.write(Data("Foundation: \(error)\n".utf8))
      try Data(value).write(to: file)
    }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 604_800)], ofItemAtPath: file.path)
  }

  func read(forKey key: String) throws -> Int? {
    let path = file(key).path
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let expiry = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    guard let expiry, expiry > Date() else { return nil }
    return try [UInt8](Data(contentsOf: file(key))).count
  }

  func removeHalf() throws {
    let keys: [URLResourceKey] = [.contentAccessDateKey, .fileSizeKey]
    let files = try FileManager.default.contentsOfDirectory(
      at: directory, includingPropertiesForKeys: keys)
    let dated = try files.map { file in
      (file, try file.resourceValues(forKeys: Set(keys)).contentAccessDate ?? .distantPast)
    }
    for (file, _) in dated.sorted(by: { $0.1 < $1.1 }).prefix(files.count / 2) {
      try FileManager.default.removeItem(at: file)
    }
  }
}

/// SQLite with a log and prepared statements, a transaction for each call. It records no use, so it
/// removes what was stored first.
class SQLite: Store {
  class var title: String { "SQLite" }
  private let base: OpaquePointer
  private let (insert, select, delete): (OpaquePointer, OpaquePointer, OpaquePointer)
  fileprivate let touch: OpaquePointer

  required init(directory: String) throws {
    var base: OpaquePointer?
    guard sqlite3_open("\(directory)/cache.db", &base) == SQLITE_OK, let base else {
      throw Failure(what: "sqlite3_open")
    }
    func prepare(_ text: String) throws -> OpaquePointer {
      var statement: OpaquePointer?
      guard sqlite3_prepare_v2(base, text, -1, &statement, nil) == SQLITE_OK, let statement else {
        throw Failure(what: String(cString: sqlite3_errmsg(base)))
      }
      return statement
    }
    for text in [
      "pragma journal_mode = wal", "pragma synchronous = normal",
      """
      create table if not exists entries
      (key text primary key, value blob, expiry integer, used integer)
      """,
    ] {
      guard sqlite3_exec(base, text, nil, nil, nil) == SQLITE_OK else { throw Failure(what: text) }
    }
    self.base = base
    insert = try prepare("insert or replace into entries values (?1, ?2, ?3, ?4)")
    select = try prepare("select value from entries where key = ?1 and expiry > ?2")
    touch = try prepare("update entries set used = ?2 where key = ?1")
    delete = try prepare(
      """
      delete from entries where rowid in
      (select rowid from entries order by used limit (select count(*) / 2 from entries))
      """)
  }

  deinit {
    for statement in [insert, select, delete, touch] { sqlite3_finalize(statement) }
    sqlite3_close(base)
  }

  fileprivate func bind(_ statement: OpaquePointer, _ key: String) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    sqlite3_bind_text(statement, 1, key, Int32(key.utf8.count), transient)
  }

  fileprivate func finish(_ statement: OpaquePointer) throws {
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else {
      throw Failure(what: String(cString: sqlite3_errmsg(base)))
    }
  }

  func store(_ value: [UInt8], forKey key: String) throws {
    bind(insert, key)
    sqlite3_bind_int64(insert, 3, Int64(time(nil)) + 604_800)
    sqlite3_bind_int64(insert, 4, Int64(time(nil)))
    try value.withUnsafeBytes { bytes in
      // It lives until the statement was run.
      sqlite3_bind_blob(insert, 2, bytes.baseAddress, Int32(bytes.count), nil)
      try finish(insert)
    }
  }

  func read(forKey key: String) throws -> Int? {
    defer { sqlite3_reset(select) }
    bind(select, key)
    sqlite3_bind_int64(select, 2, Int64(time(nil)))
    guard sqlite3_step(select) == SQLITE_ROW else { return nil }
    let count = Int(sqlite3_column_bytes(select, 0))
    let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(select, 0), count: count)
    return [UInt8](bytes).count
  }

  func removeHalf() throws { try finish(delete) }
}

/// SQLite that records each use, as a cache must that removes what was used longest ago.
final class SQLiteWithUses: SQLite {
  override class var title: String { "SQLite, uses kept" }

  override func read(forKey key: String) throws -> Int? {
    let count = try super.read(forKey: key)
    if count != nil {
      bind(touch, key)
      sqlite3_bind_int64(touch, 2, Int64(time(nil)))
      try finish(touch)
    }
    return count
  }
}

#if canImport(GRDB)
  /// SQLite through GRDB, with a pool and a write for each store. It records no use.
  struct GRDBStore: Store {
    static let title = "GRDB"
    let pool: DatabasePool

    init(directory: String) throws {
      pool = try DatabasePool(path: "\(directory)/cache.db")
      try pool.write { base in
        try base.execute(
          sql: """
            create table if not exists entries
            (key text primary key, value blob, expiry integer, used integer)
            """)
      }
    }

    func store(_ value: [UInt8], forKey key: String) throws {
      let now = Int(time(nil))
      try pool.write { base in
        let insert = try base.cachedStatement(
          sql: "insert or replace into entries values (?, ?, ?, ?)")
        try insert.execute(arguments: [key, Data(value), now + 604_800, now])
      }
    }

    func read(forKey key: String) throws -> Int? {
      try pool.read { base in
        let select = try base.cachedStatement(
          sql: "select value from entries where key = ? and expiry > ?")
        return try Data.fetchOne(select, arguments: [key, Int(time(nil))]).map { [UInt8]($0).count }
      }
    }

    func removeHalf() throws {
      try pool.write { base in
        try base.execute(
          sql: """
            delete from entries where rowid in
            (select rowid from entries order by used limit (select count(*) / 2 from entries))
            """)
      }
    }
  }
#endif

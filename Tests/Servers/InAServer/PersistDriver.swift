// The adapter of the guide InAServer for Hummingbird.
import Foundation
import Hummingbird
import LarderFoundation

struct DiskPersistDriver: PersistDriver {
  let disk: DiskCache

  func create(key: String, value: some Codable & Sendable, expires: Duration?) async throws {
    let bytes = [UInt8](try JSONEncoder().encode(value))
    let outcome = try await disk.storeIfAbsent(
      bytes, forKey: key, expiration: expiration(after: expires))
    if outcome == .rejected(.alreadyPresent) { throw PersistError.duplicate }
  }

  func set(key: String, value: some Codable & Sendable, expires: Duration?) async throws {
    let data = try JSONEncoder().encode(value)
    var expiration = expiration(after: expires)
    if expires == nil, let expiry = try await disk.entry(forKey: key)?.expiry {
      expiration = .date(expiry)
    }
    try await disk.store(data, forKey: key, expiration: expiration)
  }

  func get<Object: Codable & Sendable>(key: String, as type: Object.Type) async throws -> Object? {
    try await getWithTTL(key: key, as: type)?.object
  }

  func getWithTTL<Object: Codable & Sendable>(
    key: String, as type: Object.Type
  ) async throws -> (object: Object, ttl: Duration?)? {
    guard let found = try await disk.read(forKey: key) else { return nil }
    do {
      let object = try JSONDecoder().decode(type, from: Data(found.value))
      return (object, found.expiry?.duration(since: disk.configuration.clock.now()))
    } catch is DecodingError {
      throw PersistError.invalidConversion
    }
  }

  func remove(key: String) async throws {
    try await disk.remove(forKey: key)
  }

  func shutdown() async throws {
    try await disk.close()
  }

  private func expiration(after time: Duration?) -> Expiration {
    time.map { .date(disk.configuration.clock.now().adding($0)) } ?? .never
  }
}

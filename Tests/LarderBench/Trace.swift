import Glibc

/// The accesses of a trace file.
struct Trace {
  struct Access {
    let object: Int
    let byteCount: Int
  }

  /// The objects' names in the order of their first access.
  private(set) var objects: [String] = []
  private(set) var accesses: [Access] = []

  /// The bytes of a value whose line gives no size.
  private static let defaultByteCount = 1024

  /// Reads a trace, or the part of it between two accesses.
  init(path: String, skip: Int = 0, first: Int = .max) throws {
    guard let file = unsafe fopen(path, "r") else { throw TraceError(path: path, errno: errno) }
    defer { unsafe fclose(file) }
    var numbers: [String: Int] = [:]
    var line = [CChar](repeating: 0, count: 4096)
    var position = 0
    while unsafe fgets(&line, 4096, file) != nil {
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
      guard let name = words.first.map(String.init) else { continue }
      position += 1
      guard position > skip, position <= first else { continue }
      let object = numbers[name] ?? objects.count
      if object == objects.count {
        numbers[name] = object
        objects.append(name)
      }
      let byteCount = words.count > 1 ? Int(words[1]) : nil
      accesses.append(Access(object: object, byteCount: byteCount ?? Self.defaultByteCount))
    }
  }
}

/// The error for a trace that cannot be read.
struct TraceError: Error, CustomStringConvertible {
  let path: String
  let errno: Int32

  var description: String { "\(path): \(unsafe String(cString: strerror(errno)))" }
}

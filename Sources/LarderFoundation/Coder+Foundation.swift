public import FoundationEssentials

extension Coder<Data> {
  /// Foundation's bytes as they are. `DiskCache.data(forKey:)` avoids the copy that this makes.
  public static let data = Coder(encode: { [UInt8]($0) }, decode: { Data($0) })
}

extension Coder where Value: Codable {
  /// JSON by Foundation's coders with their default settings, except that the keys of each object
  /// are sorted.
  ///
  /// Sorted, so that equal values have equal bytes: otherwise the order changes from one process to
  /// the next, and a fixture that is recorded anew would show false changes.
  public static func json(_ type: Value.Type = Value.self) -> Coder {
    json(
      type,
      encoder: {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
      }, decoder: { JSONDecoder() })
  }

  /// JSON by coders that the functions make for each value, because Foundation's are not safe to
  /// share.
  public static func json(
    _ type: Value.Type = Value.self,
    encoder: @escaping @Sendable () -> JSONEncoder,
    decoder: @escaping @Sendable () -> JSONDecoder
  ) -> Coder {
    Coder(
      encode: { [UInt8](try encoder().encode($0)) },
      decode: { try decoder().decode(Value.self, from: Data($0)) })
  }

  /// Any format, by a pair of functions between values and Foundation's bytes.
  ///
  /// If they throw, a store fails with `.callerFailed`, and a read is a miss.
  public static func coded(
    encode: @escaping @Sendable (Value) throws -> Data,
    decode: @escaping @Sendable (Data) throws -> Value
  ) -> Coder {
    Coder(encode: { [UInt8](try encode($0)) }, decode: { try decode(Data($0)) })
  }
}

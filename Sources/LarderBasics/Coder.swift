/// The conversion of values to bytes and back.
///
/// ```swift
/// let points = Coder<Point>(
///   encode: { [UInt8($0.x), UInt8($0.y)] },
///   decode: { bytes in
///     guard bytes.count == 2 else { throw NotAPoint() }
///     return Point(x: bytes[0], y: bytes[1])
///   })
/// ```
public struct Coder<Value: Sendable>: Sendable {
  /// Converts a value to bytes.
  ///
  /// Called without any lock, on the thread of the store. If it throws, the store fails with
  /// `.callerFailed`.
  public let encode: @Sendable (Value) throws -> [UInt8]
  /// Converts bytes from `encode` back to a value. If it throws, the bytes cannot be used any more,
  /// for example because a newer version of the program has another layout, and the read is a miss.
  public let decode: @Sendable ([UInt8]) throws -> Value
  /// Whether the bytes are the value, so that a hit in memory saves reading them and nothing else.
  package let isOfBytes: Bool
  /// Copies a value that may be a part of a larger one, for memory to keep; nil if none can be.
  package var compacted: (@Sendable (Value) -> Value)?

  /// Creates a coder from a pair of functions, which any thread may call.
  ///
  /// If they throw, a store fails with `.callerFailed`, and a read is a miss.
  public init(
    encode: @escaping @Sendable (Value) throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Value
  ) {
    self.init(isOfBytes: false, encode: encode, decode: decode)
  }

  package init(
    isOfBytes: Bool, encode: @escaping @Sendable (Value) throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Value
  ) {
    self.isOfBytes = isOfBytes
    self.encode = encode
    self.decode = decode
  }

  /// Converts a value to bytes, as a step of a store.
  package func bytes(of value: Value) throws(CacheError) -> [UInt8] {
    do {
      return try encode(value)
    } catch {
      throw CacheError(.callerFailed, operation: "encode", underlying: "\(error)")
    }
  }
}

extension Coder<[UInt8]> {
  /// Bytes as they are.
  public static let bytes = Coder(isOfBytes: true, encode: { $0 }, decode: { $0 })
}

extension Coder<String> {
  /// Text as its UTF-8 bytes. Bytes that are not UTF-8 do not decode.
  public static let string = Coder(
    encode: { Array($0.utf8) },
    decode: { bytes in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw CacheError(.callerFailed, operation: "decode", underlying: "not UTF-8")
      }
      return text
    })
}

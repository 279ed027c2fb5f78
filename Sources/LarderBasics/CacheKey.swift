/// The name of a value: a string of bytes, usually text.
///
/// Keys are equal when their bytes are. Swift's `String` unites what Unicode calls canonically
/// equivalent; keys do not: composed and decomposed "é" name two values, in memory and on disk.
/// What text a key was made from makes no difference, nor whether it came as text or as bytes.
///
/// Any bytes will do: none at all, zeros, slashes, what is not UTF-8. On disk
/// `printf %s "$key" | md5sum` names the file.
///
/// Hashing goes by the bytes too, with a seed that differs by process, so that nobody can choose
/// keys that collide. A key made from a `String` holds that string and allocates nothing.
public struct CacheKey: Sendable {
  /// Text wherever the bytes are UTF-8, so that equal keys are of one case.
  @usableFromInline
  package enum Content: Sendable {
    case text(String)
    case bytes([UInt8])
  }

  @usableFromInline
  let content: Content

  @usableFromInline
  init(content: Content) {
    self.content = content
  }

  /// Creates a key from text, as its UTF-8 bytes.
  @inlinable
  public init(_ text: String) {
    self.init(content: .text(text))
  }

  /// Creates a key from a part of a text, which is copied.
  public init(_ text: Substring) {
    self.init(content: .text(String(text)))
  }

  /// Creates a key from bytes; those that are UTF-8 make the same key as their text.
  public init(_ bytes: [UInt8]) {
    // Decided once, here, so that comparing and hashing need not ask whether bytes are a text.
    if let text = String(validating: bytes, as: UTF8.self) {
      self.init(content: .text(text))
    } else {
      self.init(content: .bytes(bytes))
    }
  }
}

extension CacheKey: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// Creates a key from a literal.
  public init(stringLiteral text: String) {
    self.init(text)
  }
}

extension CacheKey {
  /// The key as text, or nil when it is not UTF-8.
  public var text: String? {
    switch content {
    case .text(let text): text
    case .bytes: nil
    }
  }

  /// The number of bytes.
  public var byteCount: Int {
    switch content {
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    }
  }

  /// The bytes, copied.
  public var bytes: [UInt8] {
    switch content {
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    }
  }

  /// Calls a function with the bytes, which are not copied.
  ///
  /// - Throws: What the function throws.
  @inlinable
  public func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch content {
    case .text(let text): try body(text.utf8.span)
    case .bytes(let bytes): try body(bytes.span)
    }
  }
}

import LarderSystem

/// The name of a value: a string of bytes, usually text.
///
/// Keys are equal when their bytes are. Swift's `String` treats text as equal that Unicode calls
/// canonically equivalent; keys do not: composed and decomposed "é" name two values, in memory and
/// on disk. A key from text and a key from the same text's bytes are equal.
///
/// Any bytes are allowed: none at all, zeros, slashes, bytes that are not UTF-8. On disk
/// `printf %s "$key" | md5sum` names the file.
///
/// The hash depends on the bytes too, with a seed that differs by process, so that no attacker can
/// choose keys that collide. A key made from a `String` holds that string and allocates nothing.
public struct CacheKey: Sendable {
  /// Text whenever the bytes are UTF-8, so that equal keys have the same case.
  @usableFromInline
  package enum Content: Sendable {
    case text(String)
    case bytes([UInt8])
  }

  @usableFromInline
  let content: Content

  @usableFromInline
  init(content: Content) { self.content = content }

  /// Creates a key from text, as its UTF-8 bytes.
  @inlinable
  public init(_ text: String) { self.init(content: .text(text)) }

  /// Creates a key from a substring, which is copied.
  public init(_ text: Substring) { self.init(content: .text(String(text))) }

  /// Creates a key from bytes. Bytes that are UTF-8 make the same key as their text.
  public init(_ bytes: [UInt8]) {
    // Decided once, here, so that comparing and hashing need not check whether bytes are text.
    if let text = String(validating: bytes, as: UTF8.self) {
      self.init(content: .text(text))
    } else {
      self.init(content: .bytes(bytes))
    }
  }
}

extension CacheKey: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// Creates a key from a literal.
  public init(stringLiteral text: String) { self.init(text) }
}

extension CacheKey {
  /// The key as text, or nil when it is not UTF-8.
  public var text: String? { if case .text(let text) = content { text } else { nil } }

  /// The number of bytes.
  package var byteCount: Int {
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

  /// Calls a function with the bytes, without a copy.
  ///
  /// - Throws: The error of the function.
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

extension CacheKey: CustomStringConvertible {
  /// The key as text in which control characters, and bytes that are not UTF-8, are escaped.
  public var description: String { text?.escapedForDisplay ?? bytes.escapedForDisplay }
}

extension CacheKey: Hashable {
  /// Whether two keys have the same bytes.
  //
  // The attribute is correct, and saves 20 ns a hit: the memory tier need not retain a stored key
  // while it is compared, which would write to a cache line that nothing else writes to.
  @_effects(readonly)
  public static func == (a: CacheKey, b: CacheKey) -> Bool {
    switch (a.content, b.content) {
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
    // Rare: most keys are text.
    case (.bytes(let a), .bytes(let b)): a == b
    // Bytes that were UTF-8 would have become text.
    case (.text, .bytes), (.bytes, .text): false
    }
  }

  /// Feeds the bytes and an end mark to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch content {
    case .text(let text):
      text.hashBytes(into: &hasher)
      // The end mark is in no text, so a key and the data after it cannot be split elsewhere.
      hasher.combine(0xff as UInt8)
    case .bytes(let bytes): bytes.hash(into: &hasher)
    }
  }

  /// A hash of the bytes alone, six times as fast as one through a hasher.
  ///
  /// The memory tier uses this hash; sets and dictionaries use `hash(into:)`.
  public var hashValue: Int {
    switch content {
    case .text(let text): text.withByteSpan { ByteHash.hash($0) }
    case .bytes(let bytes): ByteHash.hash(bytes.span)
    }
  }
}

extension CacheKey {
  /// The byte between the parts of a joined key, which UTF-8 never uses.
  package static let separator: UInt8 = 0xff

  /// Whether the key can be joined from several parts.
  package var isJoined: Bool {
    if case .bytes(let bytes) = content { bytes.contains(Self.separator) } else { false }
  }

  /// Creates one key from several parts of text, different from the key of any other parts.
  ///
  /// The parts' UTF-8 bytes follow each other with one byte `ff` between them. No text contains
  /// that byte, so `["a", "bc"]`, `["ab", "c"]`, `["a", "b", "c"]` and `["abc"]` are four keys, and
  /// none of the joined ones equals the key of any text. One part alone gives exactly its own
  /// bytes. In a shell: `printf 'a\377bc' | md5sum`.
  ///
  /// Traps if there is no part.
  public init(joining parts: some Sequence<String>) {
    let bytes = parts.flatMap { [Self.separator] + $0.utf8 }
    precondition(!bytes.isEmpty, "a key is joined from at least one part")
    self.init(Array(bytes.dropFirst()))
  }

  /// Creates the key of a variant of a value, such as another size, format or language.
  ///
  /// It is the key joined from both: `CacheKey(url, variant: "thumb@2x")` is
  /// `CacheKey(joining: [url, "thumb@2x"])`. The variant of a variant has three parts.
  ///
  /// - Complexity: O(bytes); copies the bytes once, also for the variant of a variant.
  public init(_ base: some CacheKeyConvertible, variant: String) {
    var bytes = base.cacheKey.bytes
    bytes.append(Self.separator)
    bytes.append(contentsOf: variant.utf8)
    self.init(bytes)
  }

  /// Whether this key is the base, or joined from it and more parts.
  package func isVariant(of base: CacheKey) -> Bool {
    let (bytes, start) = (bytes, base.bytes)
    guard bytes.starts(with: start) else { return false }
    return bytes.count == start.count || bytes[start.count] == Self.separator
  }
}

/// A type that can name a value in a cache: text, bytes, a key, or a type of your own.
public protocol CacheKeyConvertible {
  /// The key.
  var cacheKey: CacheKey { get }
}

extension CacheKey: CacheKeyConvertible {
  @inlinable
  public var cacheKey: CacheKey { self }
}

extension String: CacheKeyConvertible {
  @inlinable
  public var cacheKey: CacheKey { CacheKey(self) }
}

extension Substring: CacheKeyConvertible {
  public var cacheKey: CacheKey { CacheKey(self) }
}

extension [UInt8]: CacheKeyConvertible {
  public var cacheKey: CacheKey { CacheKey(self) }
}

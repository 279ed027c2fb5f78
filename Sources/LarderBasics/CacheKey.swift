import LarderSystem

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

extension CacheKey: Hashable {
  /// Whether two keys have the same bytes.
  //
  // The attribute is true and worth 20 ns a hit: the memory tier need not retain a stored key while
  // it is compared, which would write to a cache line that nothing else writes to.
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
      // No text contains it, so that a key and what follows it cannot be taken apart elsewhere.
      hasher.combine(0xff as UInt8)
    case .bytes(let bytes): bytes.hash(into: &hasher)
    }
  }

  /// A hash of the bytes by itself, six times as quick to have as by way of a hasher.
  ///
  /// The memory tier goes by this one; sets and dictionaries go by `hash(into:)`.
  public var hashValue: Int {
    switch content {
    case .text(let text): text.withByteSpan { ByteHash.hash($0) }
    case .bytes(let bytes): ByteHash.hash(bytes.span)
    }
  }
}

extension CacheKey {
  /// What stands between the parts of a joined key: a byte that UTF-8 never uses.
  package static let separator: UInt8 = 0xff

  /// Creates one key from several parts of text, unlike the key of any other parts.
  ///
  /// The parts' UTF-8 bytes follow each other with one byte `ff` between them. Since no text
  /// contains that byte, `["a", "bc"]`, `["ab", "c"]`, `["a", "b", "c"]` and `["abc"]` are four
  /// keys, and none of the joined ones equals the key of any text. One part alone gives exactly its
  /// own bytes. In a shell: `printf 'a\377bc' | md5sum`.
  ///
  /// No part at all is a mistake, and traps.
  public init(joining parts: some Sequence<String>) {
    var bytes: [UInt8] = []
    var partCount = 0
    for part in parts {
      if partCount > 0 { bytes.append(Self.separator) }
      bytes.append(contentsOf: part.utf8)
      partCount += 1
    }
    precondition(partCount > 0, "a key is joined from at least one part")
    self.init(bytes)
  }

  /// Creates the key of a variant of something that has a key: of a size, a format, a language.
  ///
  /// It is the key joined from both: `CacheKey(url, variant: "thumb@2x")` is
  /// `CacheKey(joining: [url, "thumb@2x"])`. The variant of a variant has three parts.
  ///
  /// - Complexity: O(bytes); the bytes are copied once, and not those of a variant again.
  public init(_ base: some CacheKeyConvertible, variant: String) {
    var bytes = base.cacheKey.bytes
    bytes.append(Self.separator)
    bytes.append(contentsOf: variant.utf8)
    self.init(bytes)
  }
}

/// What can name a value in a cache: text, bytes, a key, or a type of your own.
public protocol CacheKeyConvertible {
  /// The key it stands for.
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

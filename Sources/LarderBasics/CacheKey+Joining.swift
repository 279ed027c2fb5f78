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

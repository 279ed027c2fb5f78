import Larder

extension Call {
  /// Returns the reason that a read would find nothing in the file of a name, whose key is not
  /// known; nil if it would find a value. Checks the content.
  func missReason(
    ofFile name: EntryName, in cache: DiskCache, allowingExpired: Bool = false
  ) throws(Failure) -> MissReason? {
    let look = try onCache { () throws(CacheError) in
      try cache.look(at: name, isChecking: true)
    }
    guard let look else { return .absent }
    if !allowingExpired, DiskEntry(look).isExpired(at: now) { return .expired }
    return switch look.finding {
    case .damaged: look.isOfOtherName ? .otherKey : .damaged
    case .otherVersion: .otherVersion
    case .unreadable: .unreadable
    case .sound, .unverifiable, nil: nil
    }
  }

  /// Returns the parts of a joined key, if the bytes are what a list shows of one.
  private static func partsOfShown(_ bytes: [UInt8]) -> [[UInt8]] {
    var (parts, rest) = ([[UInt8]()], bytes[...])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.starts(with: "xff".utf8) {
        rest.removeFirst(3)
        parts.append([])
      } else {
        parts[parts.count - 1].append(byte)
      }
    }
    return parts
  }

  /// Returns what a person may have meant by a key that has no value; nil if nothing is known.
  ///
  /// - Parameters:
  ///   - walks: Whether variants of the key are looked for, which opens every file.
  ///   - digits: As many digits may be meant for a name that was not taken for one. So many that it
  ///     is hardly by chance.
  func hint(
    onMissing target: Target, in cache: DiskCache, walks: Bool,
    digits: ClosedRange<Int> = 4...(leastDigits - 1)
  ) throws(Failure) -> String? {
    guard let key = target.key else { return nil }
    let parts = Self.partsOfShown(key.bytes)
    if parts.count > 1 {
      let first = CacheKey(parts[0]).shellWord ?? parts[0].quotedForDisplay
      let variants = parts.dropFirst().map(Self.variantWord).joined(separator: " ")
      let isDashed = parts[0].first == UInt8(ascii: "-")
      return "a joined key is given as "
        + (isDashed ? "\(variants) -- \(first)" : "\(first) \(variants)")
    }
    if ["...", "\u{2026}"].contains(where: { key.bytes.starts(with: $0.utf8) }) {
      return "a key that a list shows like this is not recorded; its name stands for it"
    }
    let name = try withoutDirectory(key.bytes, in: cache)
    if Self.areDigits(Array(name.prefix { $0 != UInt8(ascii: ".") }), of: digits) {
      let names = try onCache { () throws(CacheError) in try cache.names(beginningWith: name) }
      if !names.isEmpty { return "the name of an entry begins with it (--name)" }
    }
    // A walk opens every file, so a script waits for a short one alone.
    let count = try onCache { () throws(CacheError) in try cache.unjudgedNames { _, _ in }.count }
    guard walks || count <= 1_000 else { return nil }
    let keys = try entries(of: cache).compactMap(\.key?.bytes)
    if let variants = Self.variants(of: key.bytes, among: keys) { return variants }
    guard let end = key.bytes.lastIndex(of: CacheKey.separator) else { return nil }
    return Self.variants(of: Array(key.bytes[..<end]), among: keys)
  }

  /// Returns the option for a further part of a key, as a word of a shell. As a word of its own, a
  /// part with a dash would be taken for another option.
  private static func variantWord(_ part: [UInt8]) -> String {
    "--variant=" + (CacheKey(part).shellWord ?? part.quotedForDisplay)
  }

  /// Returns how many variants of a key there are, and the first of their texts; nil if none.
  private static func variants(of key: [UInt8], among keys: [[UInt8]]) -> String? {
    let start = key + [CacheKey.separator]
    let rests = keys.filter { $0.starts(with: start) }.map { $0.dropFirst(start.count) }
    if rests.isEmpty { return nil }
    let texts = Set(rests.map { Array($0.prefix { $0 != CacheKey.separator }) })
    let words = texts.map(variantWord).sorted()
    let list = words.prefix(3).joined(separator: ", ") + (words.count > 3 ? ", ..." : "")
    let name = key.quotedForDisplay
    return "\(rests.count.counted("variant")) of \(name) \(rests.count == 1 ? "exists" : "exist")"
      + " (\(list))"
  }
}

extension EntryLook {
  /// Whether the file records a key of another name, as after a rename.
  var isOfOtherName: Bool {
    DiskEntry(self).key.map { EntryName($0, fileExtension: name.fileExtension) != name } ?? false
  }
}

import Larder

extension Call {
  /// The digits of a name that are taken for a name without `--name`: all. A key of fewer that has
  /// no value, such as a date or a checksum, may be the beginning of another entry's name.
  static let leastDigits = 32

  /// Whether a key reads as a list shows a name: with all digits, or cut.
  static func isShownName(_ key: CacheKey) -> Bool {
    key.byteCount >= leastDigits || key.bytes.suffix(3).elementsEqual("\u{2026}".utf8)
  }

  /// Returns the name that is or begins with some bytes; nil if none does. With `--name`, a whole
  /// name that no file has or begins with is returned too.
  func name(
    beginningWith bytes: [UInt8], in cache: DiskCache, isRemoval: Bool = false
  ) throws(Failure) -> EntryName? {
    let bytes = try withoutDirectory(bytes, in: cache)
    // As in a list that is cut, so that what it shows can be pasted.
    let isCut = bytes.suffix(3).elementsEqual("\u{2026}".utf8)
    let start = isCut ? Array(bytes.dropLast(3)) : bytes
    let whole = EntryName(start)
    guard whole != nil || Self.areDigits(start, of: 1...32) else { return nil }
    // Without a walk for each name of a long list.
    let entry = try onCache { () throws(CacheError) in
      try whole.flatMap { (name) throws(CacheError) in try cache.entry(named: name) }
    }
    // A file with an extension besides is another one, which a list of what is to go does not mean.
    if entry != nil || whole != nil && isRemoval && !isCut { return whole }
    let names = try onCache { () throws(CacheError) in try cache.names(beginningWith: start) }
    guard names.count > 1 else { return names.first ?? (arguments.has(.byName) ? whole : nil) }
    let list = names.prefix(3).map(\.description).joined(separator: ", ")
    throw .usage(
      "\(names.count.grouped) names begin with \(bytes.quotedForDisplay): \(list)"
        + "\(names.count > 3 ? " and others" : ""); give more of one")
  }

  /// Whether bytes may be the beginning of a name, of so many digits.
  static func areDigits(_ bytes: [UInt8], of counts: ClosedRange<Int>) -> Bool {
    counts.contains(bytes.count)
      && bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Returns the name in the path of an entry of DIR, as `larder path` prints it and a shell makes
  /// it of a pattern; other bytes as they are.
  func withoutDirectory(_ bytes: [UInt8], in cache: DiskCache) throws(Failure) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    guard let end = bytes.lastIndex(of: slash), EntryName(Array(bytes[(end + 1)...])) != nil
    else { return bytes }
    let directory = try Path(Array(original(of: cache).directory.utf8))
    do throws(Errno) {
      let isInside = try Path(Array(bytes[...end])).resolved() == directory.resolved()
      return isInside ? Array(bytes[(end + 1)...]) : bytes
    } catch {
      return bytes
    }
  }
}

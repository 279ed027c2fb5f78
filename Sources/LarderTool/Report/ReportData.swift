import Larder

/// The data of a report, as JSON inside an HTML page.
///
/// Keys and names are escaped for display first, because a bidirectional mark would reverse a row
/// of the table. Text is collected as bytes, because most keys need no escapes and are copied then.
struct ReportData {
  /// The bits of a row's flags. The page's script has the same numbers.
  private enum Flag {
    static let damaged = 1
    static let expiredVictim = 2
    static let evicted = 4
    static let keyUnknown = 8
    static let unreadable = 16
    static let withoutHash = 32
    static let wholeKey = 64
    /// Only the end of the key is known.
    static let keyHinted = 128
    /// Not used since the store.
    static let unused = 256
  }

  /// A page has every character.
  private static let style = TextStyle(usesEscapes: false, usesBlocks: true)

  private let content: ReportContent
  /// The flags of entries that the reading of all values has found something wrong with.
  private let flags: [String: Int]
  /// The beginning of most known keys, which their rows leave out.
  let prefix: [UInt8]

  /// Collects what is said of several entries.
  init(_ content: ReportContent) {
    self.content = content
    var flags: [String: Int] = [:]
    for name in content.findings?.damaged ?? [] { flags[name, default: 0] |= Flag.damaged }
    let strange = content.findings.map { $0.unreadable + $0.otherVersions } ?? []
    for name in strange { flags[name, default: 0] |= Flag.unreadable }
    self.flags = flags
    prefix = Self.commonPrefix(of: content.entries)
  }

  /// Returns the beginning that at least nine tenths of the known keys have in common, up to the
  /// last separator in it, and only as far as it needs no escapes. Empty if fewer than two keys are
  /// known.
  ///
  /// Not of all keys, because a single other key among 100,000 would make every row begin alike.
  private static func commonPrefix(of entries: [DiskEntry]) -> [UInt8] {
    let keys = entries.indices.filter { entries[$0].key != nil }
    // A thousand of many are enough. Entries are sorted by digest, so these are a random sample.
    let sample = stride(from: 0, to: keys.count, by: max(1, keys.count / 1000))
      .compactMap { entries[keys[$0]].key?.bytes }
      .sorted { $0.lexicographicallyPrecedes($1) }
    guard sample.count > 1 else { return [] }
    // What two keys have in common, all keys between them in this order have too.
    let outliers = sample.count / 20
    let (first, last) = (sample[outliers], sample[sample.count - 1 - outliers])
    let common = zip(first, last).prefix { $0 == $1 }.map(\.0)
    let plain = common.prefix(while: isPlain)
    let end = plain.lastIndex { Array("/?&=:. ".utf8).contains($0) }
    return end.map { Array(plain[...$0]) } ?? []
  }

  private func hasPrefix(_ key: [UInt8]) -> Bool {
    key.count >= prefix.count && key.prefix(prefix.count).elementsEqual(prefix)
  }

  /// Whether a byte stands for itself in JSON, in HTML and on a screen.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"): false
    default: byte >= 0x20 && byte < 0x7F
    }
  }

  /// The beginning of the object, up to the rows.
  var head: String {
    """
    {"schema":1,"directory":\(Self.quoted(Array(content.directory.utf8).escapedForDisplay)),
    "directoryWord":\(CacheKey(content.directory).shellWord.map(Self.quoted) ?? "null"),
    "now":\(content.now.seconds),"made":"\(content.now.rfc3339)","version":"\(Version.current)",
    "limit":\(content.limit.map(String.init) ?? "null"),"target":\(content.target),
    "order":"\(content.isByValue ? "least valuable" : "least recently used")",
    "checked":\(content.findings.map { "\($0.checkedCount)" } ?? "null"),
    "unfinished":\(content.survey.temporaryCount),"foreignCount":\(content.survey.foreignCount),
    "foreign":[\(foreign)],
    "prefix":"\(String(decoding: prefix, as: UTF8.self))",
    "entries":[

    """
  }

  /// The end of the object.
  static let tail = "]}\n"

  /// Appends one entry: name, key without the common prefix, bytes, bytes on disk, seconds since
  /// the last use, seconds to the expiry or null, flags, lifetime, and extended data. The last two
  /// are left out if there are no extended data and no lifetime.
  func append(
    _ entry: DiskEntry, _ fate: Inventory.Fate, isUnused: Bool, to row: inout [UInt8]
  ) {
    let key = entry.key?.bytes
    let begins = key.map(hasPrefix) ?? false
    row += "[\"".utf8
    row += entry.name.utf8
    row += "\",".utf8
    if let key, !key.isEmpty {
      append(begins ? key.dropFirst(prefix.count) : key[...], to: &row)
    } else {
      row += Self.quoted(entry.keyText(Self.style)).utf8
    }
    let used = Self.seconds(from: min(entry.lastAccess, content.now), to: content.now)
    for number in [entry.byteCount, entry.allocatedByteCount, Int(used)] {
      row.append(UInt8(ascii: ","))
      row += String(number).utf8
    }
    row.append(UInt8(ascii: ","))
    row += (entry.expiry.map { "\(Self.seconds(from: content.now, to: $0))" } ?? "null").utf8
    row.append(UInt8(ascii: ","))
    row += String(flag(of: entry, fate, isCut: begins) | (isUnused ? Flag.unused : 0)).utf8
    if let lifetime = entry.lifetime { row += ",\(Self.text(of: lifetime))".utf8 }
    if !entry.extendedData.isEmpty {
      if entry.lifetime == nil { row += ",null".utf8 }
      row += ",\(Self.quoted(entry.extendedData.escapedForDisplay))".utf8
    }
    row.append(UInt8(ascii: "]"))
  }

  /// Returns the difference of the whole seconds, limited to half the range of `Int64`, because a
  /// file can have any stamp.
  private static func seconds(from start: Timestamp, to end: Timestamp) -> Int64 {
    Timestamp(seconds: end.seconds).duration(since: Timestamp(seconds: start.seconds))
      .components.seconds
  }

  /// Appends a key, or its end behind the common prefix.
  private func append(_ rest: ArraySlice<UInt8>, to row: inout [UInt8]) {
    if rest.allSatisfy(Self.isPlain) {
      row.append(UInt8(ascii: "\""))
      row += rest
      row.append(UInt8(ascii: "\""))
    } else {
      row += Self.quoted(Array(rest).escapedForDisplay).utf8
    }
  }

  /// - Parameter isCut: Whether the common prefix of keys is left out of its key.
  private func flag(of entry: DiskEntry, _ fate: Inventory.Fate, isCut: Bool) -> Int {
    var flag = flags.isEmpty ? 0 : flags[entry.name] ?? 0
    switch fate {
    case .stays: break
    case .goesAsExpired: flag |= Flag.expiredVictim
    case .goesInOrder: flag |= Flag.evicted
    }
    if entry.key != nil {
      if !isCut { flag |= Flag.wholeKey }
    } else {
      flag |= Flag.keyUnknown
      if entry.keyHint != nil { flag |= Flag.keyHinted }
    }
    if !entry.isReadable { flag |= Flag.unreadable }
    // Without a valid attribute there is neither a lifetime nor a hash.
    if entry.lifetime == nil, flag & (Flag.damaged | Flag.unreadable) == 0 {
      flag |= Flag.withoutHash
    }
    return flag
  }

  /// Returns a lifetime in seconds, or as a word.
  private static func text(of lifetime: Expiration) -> String {
    switch lifetime {
    case .seconds(let count): "\(count)"
    case .never: "\"never\""
    default: "\"fixed\""
    }
  }

  private var foreign: String {
    content.inventory.foreign.map { thing in
      let name = thing.name?.escapedForDisplay ?? "(a name of more than 63 bytes)"
      return "[\(Self.quoted(name)),\"\(thing.kind.rawValue)\"]"
    }.joined(separator: ",")
  }

  /// Returns a JSON string that cannot end the script element around it.
  ///
  /// Source: HTML, 4.12.1.3, "Restrictions for contents of script elements": only `<!--`, `<script`
  /// and `</script` matter, all of which begin with `<`.
  static func quoted(_ text: String) -> String {
    // By scalars, because HTML recognises a `<` even if a combining mark follows.
    text.quotedForJSON.replacingScalar("<", by: "\\u003c")
  }
}

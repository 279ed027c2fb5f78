import Larder

/// The data of a report, as JSON inside an HTML page.
///
/// Keys and names are escaped for display first, because a bidirectional mark would reverse a row
/// of the table.
struct ReportData {
  /// The bits of a row's last number. The page's script has the same numbers.
  private enum Flag {
    static let damaged = 1
    static let expiredVictim = 2
    static let evicted = 4
    static let keyUnknown = 8
    static let unreadable = 16
  }

  private let content: ReportContent
  private let flags: [String: Int]

  /// Collects the flags of all entries.
  init(_ content: ReportContent) {
    self.content = content
    var flags: [String: Int] = [:]
    for name in content.victims.expired {
      flags[name.description, default: 0] |= Flag.expiredVictim
    }
    for name in content.victims.evicted { flags[name.description, default: 0] |= Flag.evicted }
    for name in content.findings?.damaged ?? [] { flags[name, default: 0] |= Flag.damaged }
    let strange = content.findings.map { $0.unreadable + $0.otherVersions } ?? []
    for name in strange { flags[name, default: 0] |= Flag.unreadable }
    self.flags = flags
  }

  /// The beginning of the object, up to the rows.
  var head: String {
    """
    {"schema":1,"directory":\(Self.quoted(Array(content.directory.utf8).escapedForDisplay)),
    "now":\(content.now.seconds),"made":"\(content.now.rfc3339)","version":"\(Version.current)",
    "limit":\(content.limit.map(String.init) ?? "null"),"target":\(content.target),
    "checked":\(content.findings.map { "\($0.checkedCount)" } ?? "null"),
    "unfinished":\(content.survey.temporaryCount),"foreignCount":\(content.survey.foreignCount),
    "foreign":[\(foreign)],
    "entries":[

    """
  }

  /// The end of the object.
  static let tail = "]}\n"

  /// Returns one entry: name, key, bytes, bytes on disk, last use, expiry or null, flags.
  func row(_ entry: DiskEntry) -> String {
    var flag = flags[entry.name] ?? 0
    if entry.key == nil { flag |= Flag.keyUnknown }
    let expiry = entry.expiry.map { String($0.seconds) } ?? "null"
    let use = min(entry.lastAccess, content.now).seconds
    return "[\"\(entry.name)\",\(Self.quoted(entry.keyText)),\(entry.byteCount),"
      + "\(entry.allocatedByteCount),\(use),\(expiry),\(flag)]"
  }

  private var foreign: String {
    content.foreign.map { thing in
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

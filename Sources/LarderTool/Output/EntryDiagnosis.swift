import Larder

/// The state of a key's file, and whether a read finds the value.
struct EntryDiagnosis: Sendable {
  /// The path of the file, whether it exists or not.
  let path: String
  /// The name of the file.
  let name: String
  /// The reason that a read finds nothing; nil if it finds the value.
  let reason: MissReason?
  /// The entry as its file describes it; nil if there is no file that can be an entry.
  let entry: DiskEntry?
  /// The time of the inspection.
  let now: Timestamp
  /// The file system of the directory.
  let ground: Ground
  /// Whether the value of a file that has expired is damaged too.
  var isDamagedToo = false
  /// Whether it is of a fixture, whose copy leaves it out.
  var isLeftOut = false
  /// What may have been meant by a key without a value, if anything is known.
  var hint: String?

  /// The state in one word: `fresh`, `soon` or `never` if a read finds the value, else the reason.
  var state: String {
    if let reason { return reason.rawValue }
    return entry?.freshness(at: now).rawValue ?? Freshness.fresh.rawValue
  }

  /// The diagnosis in a few sentences.
  var sentence: String {
    guard let reason else {
      // Without an attribute there is neither a lifetime nor a hash.
      return entry?.lifetime == nil
        ? "A read finds it; it carries no hash, so that nothing tells whether it is sound. It has "
          + "\(facts)."
        : "A read finds it, sound: \(facts)."
    }
    switch reason {
    case _ where isLeftOut: return "A read finds nothing: \(reason.sentenceInFixture)."
    case .damaged where entry?.lifetime == nil && entry?.byteCount == 0:
      return
        "A read finds nothing: the file is empty and carries no hash, as a power cut can leave "
        + "one. \(factsSentence) larder stamp DIR FILE takes it as it is."
    case .damaged where entry?.lifetime == nil:
      return "A read finds nothing: the file's attribute user.larder is not one that this format "
        + "knows. \(factsSentence) larder stamp DIR FILE takes it as it is."
    case .absent:
      let rest = hint.map { " \($0.prefix(1).uppercased())\($0.dropFirst())." } ?? ""
      return "A read finds nothing: there is no file of that name.\(rest)"
    case .expired:
      let damage = isDamagedToo ? ", and its content is damaged too" : ""
      return "A read finds nothing: it expired \(expiredSince)\(damage). \(factsSentence)"
    case .damaged:
      return "A read finds nothing: the file is damaged, because its content does not match its "
        + "hash. \(factsSentence) larder stamp DIR FILE takes it as it is."
    case .otherKey:
      return "A read finds nothing: the file says that it is of another key, "
        + "\(otherKey). \(factsSentence)"
    default: return "A read finds nothing: \(reason.sentence). \(factsSentence)"
    }
  }

  private var otherKey: String {
    if let key = entry?.key { return key.bytes.quotedForDisplay }
    return entry?.keyHint.map {
      "of which it tells only a digest and the end, \(DiskEntry.hint($0, .plain))"
    }
      ?? "of which it tells only a digest"
  }
  private var expiredSince: String {
    let text = entry?.expiry?.relativeText(at: now) ?? ""
    return text == "now" ? "just now" : text
  }
  private var factsSentence: String { entry == nil ? "" : "It has \(facts)." }

  /// The size, last use, expiry and lifetime.
  private var facts: String {
    guard let entry else { return "nothing more is known" }
    var parts = [ByteCount(Int64(entry.byteCount)).description]
    if !entry.extendedData.isEmpty {
      parts.append("beside it \(Self.text(of: entry.extendedData))")
    }
    parts.append("used \(entry.useText(at: now))")
    guard let expiry = entry.expiry else {
      return (parts + ["never expires"]).joined(separator: ", ")
    }
    if !entry.isExpired(at: now) {
      parts.append("expires \(expiry.relativeText(at: now)) (\(expiry.rfc3339.prefix(19))Z)")
    }
    // The program's `extending` decides whether a use extends; no file tells.
    if case .seconds(let seconds)? = entry.lifetime, seconds > 0 {
      let span = now.adding(seconds: Int64(seconds)).relativeText(at: now).dropFirst(3)
      parts.append("stored for \(span)")
    }
    return parts.joined(separator: ", ")
  }

  /// Returns the beginning of extended data and their size.
  private static func text(of data: [UInt8]) -> String {
    "\(ByteCount(Int64(data.count))) of extended data, \(data.quotedForDisplay)"
  }

  /// Returns the object for scripts.
  func json(_ key: CacheKey?, _ clock: [JSONValue.Member] = []) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("schema", 1), ("found", .bool(reason == nil)), ("state", .string(state)),
      ("sentence", .string(sentence)), ("path", .string(path)),
    ]
    members.append(("entry", entry?.json ?? .null))
    return .object(
      members.map { JSONValue.Member(name: $0.0, value: $0.1) } + clock
        + ground.jsonMembers + JSONValue.keyMembers(key?.bytes))
  }
}

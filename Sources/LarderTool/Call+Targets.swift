import Larder

/// The entry that an argument names, whether it is there or not.
struct Target: Sendable, Hashable {
  /// The argument, for messages.
  let argument: [UInt8]
  /// The key; nil if the argument is a file's name and the file does not tell its key.
  let key: CacheKey?
  /// The name of the file.
  let name: EntryName
}

extension Call {
  /// Returns the entries that the arguments name. Each is a key, or the name of a file or a
  /// beginning of it, as `larder list` shows them. A key that has a file wins, unless `--name` is
  /// given. For a removal, only `--name` makes a name of it: a key of digits that has no value must
  /// not remove another one.
  ///
  /// - Parameter unknown: Is called for each name that no file has or begins with.
  func targets(
    in cache: DiskCache, isRemoval: Bool = false, unknown: (Problem) throws(Failure) -> Void
  ) throws(Failure) -> [Target] {
    let keys = try keys()
    let isByName = arguments.has(.byName)
    let files: [EntryName?] =
      isByName ? Array(repeating: nil, count: keys.count) : try files(of: keys, in: cache)
    let mayBeName =
      !isRemoval && ![Option.fileExtension, .keyFile, .variant].contains(where: arguments.has)
    var targets: [Target] = []
    for (key, file) in zip(keys, files) {
      let isName = isByName || (mayBeName && key.byteCount >= Self.leastDigits)
      if file == nil, isName, let name = try name(beginningWith: key.bytes, in: cache) {
        targets.append(try target(key.bytes, name, in: cache))
      } else if isByName {
        try unknown(Self.unknownName(key.bytes))
      } else {
        targets.append(
          Target(argument: key.bytes, key: key, name: file ?? EntryName(key, extension: arguments)))
      }
    }
    return targets
  }

  /// Returns the entry that a verb with one KEY is about.
  func target(in cache: DiskCache) throws(Failure) -> Target {
    let targets = try targets(in: cache) { (problem) throws(Failure) in throw .problem(problem) }
    guard let target = targets.first else { throw .usage("KEY is missing") }
    return target
  }

  /// The digits of a name that are taken for a name without `--name`. So many that hardly any key
  /// of digits, such as a number or a date, is the beginning of another entry's name.
  static let leastDigits = 8

  /// Returns the name that begins with some bytes; nil if none does. Whole names are returned even
  /// if they have no file.
  func name(
    beginningWith bytes: [UInt8], in cache: DiskCache
  ) throws(Failure) -> EntryName? {
    let bytes = try withoutDirectory(bytes, in: cache)
    // As in a list that is cut, so that what it shows can be pasted.
    let isCut = bytes.suffix(3).elementsEqual("\u{2026}".utf8)
    let start = isCut ? Array(bytes.dropLast(3)) : bytes
    let whole = EntryName(start)
    guard whole != nil || Self.areDigits(start, of: 1...32) else { return nil }
    // Without a walk for each name of a long list.
    if let whole, arguments.has(.byName) { return whole }
    let names = try onCache { () throws(CacheError) in try cache.names(beginningWith: start) }
    if let whole, names.contains(whole) { return whole }
    guard names.count > 1 else { return names.first }
    let list = names.prefix(3).map(\.description).joined(separator: ", ")
    throw .usage(
      "\(names.count.grouped) names begin with \(bytes.quotedForDisplay): \(list)"
        + "\(names.count > 3 ? " and others" : ""); give more of one")
  }

  /// Whether bytes may be the beginning of a name, of so many digits.
  private static func areDigits(_ bytes: [UInt8], of counts: ClosedRange<Int>) -> Bool {
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

  private func target(
    _ argument: [UInt8], _ name: EntryName, in cache: DiskCache
  ) throws(Failure) -> Target {
    let key = try onCache { () throws(CacheError) in try cache.entry(named: name)?.key }
    // A file that was renamed tells the key of another name.
    let isNamed = key.map { EntryName($0, fileExtension: name.fileExtension) == name } ?? false
    return Target(argument: argument, key: isNamed ? key : nil, name: name)
  }

  /// Returns the problem of a beginning that no name has.
  private static func unknownName(_ bytes: [UInt8]) -> Problem {
    Problem(
      exitCode: .finding, code: MissReason.absent.rawValue,
      what: "no name in DIR begins with \(bytes.quotedForDisplay)",
      cure: "larder list shows the names")
  }
}

extension Call {
  /// Returns the file of each key; nil for a key that has none. With `--ext`, that is the name with
  /// that extension, whether it has a file or not. Without, it is the bare name if it has a file,
  /// else the name of the only file with an extension.
  func files(of keys: [CacheKey], in cache: DiskCache) throws(Failure) -> [EntryName?] {
    if let wanted = arguments.fileExtension {
      return keys.map { EntryName($0, fileExtension: wanted) }
    }
    return try onCache { () throws(CacheError) in try cache.names(forKeys: keys) }
      .map { (candidates) throws(Failure) in
        // Not guessed, because the result of a script would depend on other files in the directory.
        guard candidates.count <= 1 else { throw Self.ambiguous(candidates) }
        return candidates.first
      }
  }

  private static func ambiguous(_ names: [EntryName]) -> Failure {
    let list = names.map(\.description).joined(separator: ", ")
    return .usage("the key has several files, \(list); say which with --ext")
  }
}

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

extension EntryName {
  /// Creates the name of a key with the extension of `--ext`, if it is given.
  fileprivate init(_ key: CacheKey, extension arguments: Arguments) {
    self.init(key, fileExtension: arguments.fileExtension ?? .none)
  }
}

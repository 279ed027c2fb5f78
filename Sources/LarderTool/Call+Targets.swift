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
  /// Returns the entries that the arguments name. Each is a key, or the name of a file, whole or as
  /// `larder list` cuts it, with `--name` also any beginning of one. A key that has a file wins,
  /// unless `--name` is given.
  ///
  /// - Parameters:
  ///   - isRemoval: Whether only `--name` makes a name of an argument: a key of digits that has no
  ///     value must not remove another one.
  ///   - unknown: Is called for each name that no file has or begins with.
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
      let isName = isByName || mayBeName && Self.isShownName(key)
      if file == nil, isName,
        let name = try name(beginningWith: key.bytes, in: cache, isRemoval: isRemoval)
      {
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

extension EntryName {
  /// Creates the name of a key with the extension of `--ext`, if it is given.
  fileprivate init(_ key: CacheKey, extension arguments: Arguments) {
    self.init(key, fileExtension: arguments.fileExtension ?? .none)
  }
}

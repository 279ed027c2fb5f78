import Larder
import LarderDisk
import LarderFixtures
import LarderSystem

extension Call {
  /// Returns the call with a copy of DIR to read in its place if DIR is a fixture, whose files have
  /// the stamps of a checkout.
  func readingFixture() throws(Failure) -> Call {
    try requireCache()
    let path = try Self.path(of: arguments.directory)
    var call = self
    call.fixtureCopy = try onCache { () throws(CacheError) in try FixtureCopy(of: path) }
    if let fixture = call.fixtureCopy, console.isTerminal, !isJSON {
      let line = "a fixture: its clock stands at \(fixture.now.rfc3339)"
      console.talk(console.style.dim(line) + "\n")
    }
    return call
  }

  /// Returns the cache in DIR itself, for what the copy of a fixture does not show: its path and
  /// its file system.
  func original(of cache: DiskCache) throws(Failure) -> DiskCache {
    if fixtureCopy == nil { return cache }
    return try Call(arguments: arguments, console: console).openForReading()
  }

  /// Reports the entries of a fixture that a read refuses.
  func sayRefusals() {
    for refusal in fixtureCopy?.refusals ?? [] {
      console.say("\(refusal.name) is left out: \(refusal.reason.sentenceInFixture)")
    }
  }

  /// The member of an object that has the time at which a fixture's clock stands.
  var clockMembers: [JSONValue.Member] {
    fixtureCopy.map { [JSONValue.Member(name: "clock", value: .time($0.now))] } ?? []
  }

  /// Opens the cache directory without changing anything in it.
  func openForReading(
    _ directory: [UInt8]? = nil, fileExtension: FileExtension = .none
  ) throws(Failure) -> DiskCache {
    // Checked by the names in the directory before it is opened as a cache, so that no file is
    // written to a wrong DIR.
    try requireCache(directory)
    return try open(directory) { configuration in
      configuration.mode = .readOnly
      configuration.setFileExtension(fileExtension)
    }
  }

  /// Opens the cache directory to change it. Does not create a missing directory.
  func openForWriting(
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws(Failure) -> DiskCache {
    try requireCache()
    return try open { configuration in
      configuration.makesDirectory = false
      change(&configuration)
    }
  }

  /// Throws if a verb that chooses what it removes must not be let into the directory: its files
  /// may be another program's, or have the stamps of a checkout.
  func requireRemovable() throws(Failure) {
    try requireCache()
    let (isProven, isFixture) = try proof()
    if isFixture {
      throw .usage("DIR is a fixture, with the stamps of a checkout; name a KEY or FILE")
    }
    if !isProven {
      let cure = "an empty file CACHEDIR.TAG in it says that it is one"
      throw .notACache(arguments.directory, cure: cure)
    }
  }

  /// Returns whether more than names shows that the directory is a cache, and whether it is a
  /// fixture.
  func proof() throws(Failure) -> (isProven: Bool, isFixture: Bool) {
    let path = try Self.path(of: arguments.directory)
    return try onCache { () throws(CacheError) in
      (try DirectoryKind.isProven(ofDirectory: path), try FixtureCopy.isFixture(path))
    }
  }

  /// Opens the cache directory with the tool's own settings. It sets no limit, so that nothing is
  /// evicted, and no scan starts, unless the verb asks for one or a value finds the disk full. A
  /// directory that a group shares stays shared with it.
  func open(
    _ directory: [UInt8]? = nil, _ change: (inout DiskCache.Configuration) -> Void
  ) throws(Failure) -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    if goesByValue { configuration.evictionOrder = .leastValuable }
    change(&configuration)
    var path = try Self.path(of: directory ?? arguments.directory)
    if directory == nil, let fixture = fixtureCopy {
      path = fixture.path
      configuration.clock = ManualClock(fixture.now).wallClock
    }
    configuration.sharesWithGroup = Self.isShared(path)
    return try onCache(directory) { () throws(CacheError) in
      try DiskCache(directory: path, configuration: configuration)
    }
  }

  /// Whether a directory has the mode that `DiskCache.Configuration.sharesWithGroup` gives it: its
  /// group may write, and new files get that group.
  private static func isShared(_ path: String) -> Bool {
    do throws(Errno) {
      let status = try DirectoryHandle.open(path: path, faults: nil).status(of: FileName("."))
      return status.permissions & 0o2020 == 0o2020
    } catch {
      return false
    }
  }

  /// Whether the verb evicts, or shows, the least valuable first.
  var goesByValue: Bool {
    arguments.choice(.order) == "value" || arguments.choice(.sort) == EntryOrder.value.rawValue
  }

  /// Returns whether the directory is a cache, empty or foreign; nil if it does not exist.
  func directoryKind(_ directory: [UInt8]? = nil) throws(Failure) -> DirectoryKind? {
    let path = try Self.path(of: directory ?? arguments.directory)
    return try onCache(directory) { () throws(CacheError) in
      do throws(CacheError) {
        return try DirectoryKind(ofDirectory: path)
      } catch  where error.code == .directoryMissing {
        return nil
      }
    }
  }

  /// Throws if the directory is missing or is no cache, before anything in it can be changed. The
  /// manifest of a fixture is enough, because its last entry may have been removed.
  private func requireCache(_ directory: [UInt8]? = nil) throws(Failure) {
    let name = directory ?? arguments.directory
    let path = try Self.path(of: name)
    let kind = try onCache(directory) { () throws(CacheError) in
      try FixtureDirectory.kind(ofDirectory: path)
    }
    switch kind {
    case .cache, .empty: return
    case .foreign: throw .notACache(name, cure: try cure(forForeign: name))
    case nil: throw .missing(name)
    }
  }

  /// Returns the remedy for a directory of other things, with up to three of the caches that lie in
  /// it: one of them may be meant.
  private func cure(forForeign directory: [UInt8]) throws(Failure) -> String? {
    let path = try Self.path(of: directory)
    var caches: [String] = []
    _ = try onCache(directory) { () throws(CacheError) in
      try DirectoryKind(ofDirectory: path) { name in
        let path = path.hasSuffix("/") ? path + name.text : "\(path)/\(name.text)"
        if Self.isCache(path) { caches.append(Array(path.utf8).quotedForDisplay) }
        return .foreign
      }
    }
    guard !caches.isEmpty else { return nil }
    let named = caches.sorted().prefix(3).joined(separator: ", ")
    return "name the directory of a cache, such as \(named)"
  }

  /// Returns the remedy for a directory of other things that a verb would take if asked to. One to
  /// which others may write, such as /tmp, would be refused even then.
  func adoption(of directory: [UInt8], _ option: String) throws(Failure) -> String {
    let cache = try open(directory) { $0.mode = .readOnly }
    return cache.statistics.isDirectoryUnsafe
      ? "use a directory of your own" : "\(option) takes it"
  }

  /// Whether a path is a cache. What cannot be looked at counts as none.
  private static func isCache(_ path: String) -> Bool {
    do throws(CacheError) {
      return try DirectoryKind(ofDirectory: path) == .cache
    } catch {
      return false
    }
  }

  /// Returns the path of a directory as text, which the library takes.
  static func path(of directory: [UInt8]) throws(Failure) -> String {
    // Invalid bytes are refused, because a replacement character would name another directory.
    guard let path = String(validating: directory, as: UTF8.self) else {
      let name = directory.quotedForDisplay
      throw .usage("DIR \(name) is not UTF-8; rename it, or reach it through a link")
    }
    return path
  }

  /// Runs a step that calls the library, and converts its error to a ``Failure``.
  func onCache<Result: ~Copyable>(
    _ directory: [UInt8]? = nil, _ step: () throws(CacheError) -> Result
  ) throws(Failure) -> Result {
    do throws(CacheError) {
      return try step()
    } catch {
      throw Failure(error, directory: directory ?? arguments.directory)
    }
  }
}

extension DiskCache.Configuration {
  /// Sets the extension from the command line or from an entry's name.
  mutating func setFileExtension(_ name: FileExtension) {
    fileExtension = name == .none ? nil : String(decoding: name.bytes, as: UTF8.self)
  }
}

extension DirectoryKind {
  /// Whether more than names shows that a directory is a cache: its tag, the temporary file of a
  /// write, or an entry's attribute. Other programs name files by an MD5 too, as thumbnails are.
  /// True for a directory without such names.
  ///
  /// - Throws: As ``init(ofDirectory:with:)``.
  fileprivate static func isProven(ofDirectory path: String) throws(CacheError) -> Bool {
    try attempt("open", at: path, isProven(DirectoryHandle.open(path: path, faults: nil)))
  }

  private static func isProven(_ handle: DirectoryHandle) throws(Errno) -> Bool {
    switch try DirectoryMaking.tagFinding(handle) {
    case .own, .blank: return true
    case .missing, .foreign: break
    }
    let stream = try DirectoryStream(handle.reopen())
    var hasEntries = false
    while let found = try stream.next() {
      guard case .name(let name) = found else { continue }
      if name.isTemporary { return true }
      guard EntryName(name) != nil else { continue }
      hasEntries = true
      do throws(Errno) {
        var hasAttribute = false
        try handle.openForReading(name).withAttribute(.entry) { _ in hasAttribute = true }
        if hasAttribute { return true }
      } catch {
        // What cannot be read proves nothing.
      }
    }
    return !hasEntries
  }
}

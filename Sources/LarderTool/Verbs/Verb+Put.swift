import Larder
import LarderFixtures

extension Verb {
  /// `larder put`
  static let put = Verb(
    name: "put",
    summary: "Store a value under a key, in place of the older one",
    synonyms: ["store", "set", "add", "save", "write", "cp"],
    operands: [
      .directory, .key,
      Operand(
        role: .file, arity: .optional, placeholder: "FILE|-",
        help: "The file with the value (default, or -: stdin)"),
    ],
    ownOptions: [.putExpires, .data, .variant, .fileExtension, .keyFile, .adopt],
    rules: [.oneReaderOfStandardInput],
    notes: [
      """
      A missing directory is made. Nothing is printed; a value that is rejected, because it has \
      expired already, gives status 1 and the reason on stderr, and what was there is removed.
      """,
      """
      The data of --data are up to 1,024 bytes beside the value, such as an ETag, and are read \
      back by get --data-only. As with curl, @FILE takes them from a file and @- from stdin, byte \
      for byte; a text that begins with @ has to come that way.
      """,
    ],
    run: { call throws(Failure) in try call.put() })
}

extension Option {
  /// The flag that allows a directory of foreign files.
  static let adopt = Option(
    "adopt", nil, .flag, "Use the directory all the same, whatever it holds")
  /// The extended data of the value.
  static let data = Option("data", nil, .data, "Keep extended data beside the value")
  /// The lifetime of the value.
  static let putExpires = Option(
    "expires", nil, .expiration, "How long the value stays valid, or never (default: 7d)")
}

extension Call {
  /// Stores stdin or a file under a key.
  ///
  /// The arguments and the input are checked before the directory is created or an older value is
  /// changed.
  func put() throws(Failure) -> ExitCode {
    let (key, fileExtension) = try place()
    let data = try extendedData()
    // Opened before the directory is examined, because a missing FILE must change nothing.
    let input = try valueInput()
    let isOwn = try directoryKind().map(mayPut) != false
    if !arguments.has(.adopt), !isOwn {
      throw .notACache(
        arguments.directory, cure: try adoption(of: arguments.directory, "larder put --adopt"))
    }
    let cache = try open { configuration in
      configuration.setFileExtension(fileExtension)
      // The next command would not know that this one's eviction did not help, and evict again.
      configuration.trimTarget = 1
      // Not another program's files.
      configuration.makesRoom = isOwn
    }
    let (outcome, byteCount) = try store(input, data, under: key, in: cache)
    try onCache { () throws(CacheError) in try cache.close() }
    return try report(outcome, byteCount, path: cache.path(forKey: key))
  }

  /// Returns the key to store under, and the extension: without `--ext` that of the only file of
  /// the key, which is to be replaced. Throws for the name of an entry, because a value under the
  /// name as a key would not be that entry's.
  private func place() throws(Failure) -> (CacheKey, FileExtension) {
    let key = try key()
    guard try directoryKind() == .cache else { return (key, arguments.fileExtension ?? .none) }
    let cache = try openForReading()
    if let file = try files(of: [key], in: cache)[0] { return (key, file.fileExtension) }
    let isKey = [Option.keyFile, .variant].contains(where: arguments.has)
    guard !isKey, Self.isShownName(key),
      let name = try name(beginningWith: key.bytes, in: cache)
    else { return (key, .none) }
    let entry = try onCache { () throws(CacheError) in try cache.entry(named: name) }
    let known = entry?.key?.shellWord.map { ", which is \($0)" } ?? ""
    throw .usage(
      "\(key.bytes.quotedForDisplay) is the name of an entry; give its key\(known), or write its "
        + "file in place and larder stamp it. --key-file takes the name for a key")
  }

  /// Whether a value may be stored in the directory of a kind: not among another program's files.
  private func mayPut(in kind: DirectoryKind) throws(Failure) -> Bool {
    guard kind == .cache else { return kind == .empty }
    let (isProven, isFixture) = try proof()
    if isFixture { throw .usage("DIR is a fixture, which larder record keeps values in") }
    return isProven
  }

  /// Opens the input: stdin, or the file named. Throws for a directory.
  private func valueInput() throws(Failure) -> InputFile {
    let path = arguments[.file].first ?? Self.dash
    do throws(Errno) {
      if path != Self.dash { return try InputFile(Path(path)) }
      let input = InputFile.standardInput
      try input.check()
      return input
    } catch {
      throw Failure(error, doing: "read \(path.quotedForDisplay)")
    }
  }

  /// Returns the bytes given with `--data`, from the command line or from a file; none without it.
  ///
  /// Throws if they are too long, because the store would remove the older value before it fails.
  func extendedData() throws(Failure) -> [UInt8] {
    guard let given = arguments.data(.data) else { return [] }
    let isPath = given.first == UInt8(ascii: "@")
    let data = isPath ? try dataFile(Array(given.dropFirst())) : given
    let limit = StoreRequest.maximumExtendedDataCount
    guard data.count <= limit else {
      throw .usage("--data: more than \(limit.grouped) bytes; at most as many are kept")
    }
    return data
  }

  /// Reads the data from a file, but at most one byte more than allowed.
  private func dataFile(_ path: [UInt8]) throws(Failure) -> [UInt8] {
    if path.isEmpty { throw .usage("--data: after @, name a file, or - for stdin") }
    do throws(Errno) {
      let file = path == Self.dash ? InputFile.standardInput : try InputFile(Path(path))
      return try file.readToEnd(upTo: StoreRequest.maximumExtendedDataCount + 1)
    } catch {
      throw Failure(error, doing: "read the data from \(path.quotedForDisplay)")
    }
  }

  private func store(
    _ input: borrowing InputFile, _ data: [UInt8], under key: CacheKey, in cache: DiskCache
  ) throws(Failure) -> (StoreOutcome, Int) {
    var failure: Failure?
    var byteCount = 0
    do throws(CacheError) {
      let expiration = arguments.expiration(.putExpires)
      let outcome = try cache.store(
        forKey: key, expiration: expiration, extendedData: data
      ) { stream in
        do throws(Failure) {
          try copy(input, to: &stream)
        } catch {
          failure = error
          throw error
        }
        byteCount = stream.byteCount
      }
      return (outcome, byteCount)
    } catch {
      throw failure ?? Failure(error, directory: arguments.directory)
    }
  }

  /// Copies the value in pieces of 256 KiB, so that it is never in memory as a whole.
  private func copy(
    _ input: borrowing InputFile, to stream: inout EntryStream
  ) throws(Failure) {
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      var count = 0
      do throws(Errno) {
        count = try input.read(into: &piece)
      } catch {
        throw Failure(error, doing: "read the value")
      }
      if count == 0 { return }
      try onCache { () throws(CacheError) in
        try stream.write(piece.span.extracting(..<count))
      }
    }
  }

  private func report(
    _ outcome: StoreOutcome, _ byteCount: Int, path: String
  ) throws(Failure) -> ExitCode {
    var reason: String?
    if case .rejected(let why) = outcome { reason = why.rawValue }
    if isJSON {
      try console.print([
        "schema": 1, "stored": .bool(reason == nil), "reason": JSONValue(reason),
        "size": JSONValue(byteCount), "path": .string(path),
      ])
    }
    guard let reason else { return .fine }
    let sentence = reason == "expired" ? "it would have expired already" : reason
    console.say("the value was not stored: \(sentence); what was there is removed")
    return .finding
  }
}

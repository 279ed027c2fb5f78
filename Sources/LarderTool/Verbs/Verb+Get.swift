import Larder

extension Verb {
  /// `larder get`
  static let get = Verb(
    name: "get",
    summary: "Write the value of a key to stdout or a file",
    synonyms: ["read", "cat", "fetch", "show", "load"],
    operands: [.directory, .keyOrName],
    ownOptions: [.output, .dataOnly, .evenExpired, .used] + targetOptions,
    rules: [.jsonNeedsOutput, .nameIsNoKey],
    notes: [
      targetNote,
      """
      A miss gives status 1, nothing on stdout and no file. The value is checked in full before \
      its first byte leaves, and FILE appears when it is whole. What is no regular file, such as \
      /dev/null, or open already, such as /dev/stdout and /dev/fd/3, is written in place. A value \
      with control characters goes to a terminal only with -o - or --plain.
      """,
      """
      With --data-only the data beside the value, as put --data keeps them, take its place; \
      nothing is written where there are none, and that is no miss. The object of --json has both.
      """,
    ],
    run: { call throws(Failure) in try call.readingFixture().get() })
}

extension Option {
  /// The file for the value.
  static let output = Option("output", "o", .file, "Write the value to a file (-: stdout)")
  /// The flag to write the extended data instead of the value.
  static let dataOnly = Option(
    "data-only", nil, .flag, "Write the extended data in the place of the value")
  /// The flag to write a value that has expired too.
  static let evenExpired = Option("expired", nil, .flag, "Write the value even if it has expired")
  /// The flag that makes the read count as a use. Without it, nothing changes in the directory.
  static let used = Option("used", nil, .flag, "Count as use: move the last access")
}

extension Rule {
  /// The rule that the JSON object and the value do not share stdout.
  static let jsonNeedsOutput = Rule("--json needs -o FILE, since the value would mix with it") {
    !$0.has(.json) || !OutputFile.isStandardOutput($0.file(.output))
  }
}

extension Call {
  /// Writes the value of a key to stdout or a file.
  func get() throws(Failure) -> ExitCode {
    // Opened twice: the first time to find the extension, which is a fixed setting of a cache.
    var unknown: Problem?
    let targets = try targets(in: openForReading()) { unknown = $0 }
    if let unknown { return try sayMiss("no value: \(unknown.sentence)", .absent) }
    guard let target = targets.first else { throw .usage("KEY is missing") }
    if target.key == nil, arguments.has(.used) {
      throw .usage("a use is counted by the key, which this file does not tell; give KEY")
    }
    let cache = try openForGetting(target)
    let delivered = try deliver(target, from: cache)
    try onCache { () throws(CacheError) in try cache.close() }
    guard let delivered else { return try reportMiss(of: target, in: cache) }
    if isJSON {
      let members: [(String, JSONValue)] = [
        ("schema", 1), ("found", true), ("size", JSONValue(delivered.byteCount)),
        ("name", .string(target.name.description)),
      ]
      try console.print(
        .object(
          members.map { JSONValue.Member(name: $0.0, value: $0.1) }
            + JSONValue.dataMembers(delivered.data)))
    }
    return .fine
  }

  /// Reports a miss with its reason, and returns the exit status.
  private func reportMiss(of target: Target, in cache: DiskCache) throws(Failure) -> ExitCode {
    let lookup = try openForReading()
    let found =
      target.key == nil
      ? try missReason(
        ofFile: target.name, in: lookup, allowingExpired: arguments.has(.evenExpired))
      : cache.statistics.misses.keys.first
    let refusal = fixtureCopy?.refusal(of: target.name)
    let reason = refusal ?? found ?? .absent
    var sentence = "no value: \(refusal?.sentenceInFixture ?? reason.sentence)"
    if reason == .absent,
      let hint = try hint(onMissing: target, in: lookup, walks: console.showsProgress)
    {
      sentence += "; \(hint)"
    }
    return try sayMiss(sentence, reason)
  }

  private func sayMiss(_ sentence: String, _ reason: MissReason) throws(Failure) -> ExitCode {
    if isJSON {
      try console.print(["schema": 1, "found": false, "reason": JSONValue(reason.rawValue)])
    }
    console.say(sentence)
    return reason == .otherVersion ? .notACache : .finding
  }

  /// Opens the cache with the extension of an entry's file. Only `--used` opens it for writing: not
  /// in a fixture, which no read changes, and not where there is no value to use, because such a
  /// read would remove a damaged file.
  private func openForGetting(_ target: Target) throws(Failure) -> DiskCache {
    let fileExtension = target.name.fileExtension
    let reading = try openForReading(fileExtension: fileExtension)
    guard arguments.has(.used), fixtureCopy == nil,
      try missReason(ofFile: target.name, in: reading) == nil
    else { return reading }
    return try openForWriting { configuration in
      configuration.setFileExtension(fileExtension)
      // With zero, the use is stamped at once, because the command does not wait for a later drain.
      configuration.recencyGranularity = .zero
    }
  }

  /// Copies the value to the output, after it was checked in full.
  ///
  /// - Returns: The length of the value and its extended data; nil on a miss.
  private func deliver(
    _ target: Target, from cache: DiskCache
  ) throws(Failure) -> (byteCount: Int, data: [UInt8])? {
    guard let file = try openFile(of: target, in: cache) else { return nil }
    let (byteCount, data) = try onValue { () throws(Errno) in
      (Int(try file.status().byteCount), try EntryReader.extendedData(of: file))
    }
    // Asked for with -o -, it goes to a terminal too.
    if console.isTerminal, arguments.file(.output) == nil {
      try requireHarmless(arguments.has(.dataOnly) ? data : nil, file)
    }
    // Only after the value was found and checked, because a miss must not create FILE.
    var output = try self.output()
    if arguments.has(.dataOnly) {
      try onOutput { () throws(Errno) in try output.write(data.span) }
    } else {
      try copy(file, to: output)
    }
    try finish(&output)
    return (byteCount, data)
  }

  /// Throws if a terminal would take bytes of the data, or else of the file, for commands: control
  /// characters, also those of two bytes in UTF-8, and their single bytes.
  private func requireHarmless(
    _ data: [UInt8]?, _ file: borrowing FileDescriptor
  ) throws(Failure) {
    var (offset, last, piece) = (0, UInt8(0), data ?? [])
    repeat {
      if data == nil {
        piece = try onValue { () throws(Errno) in try file.read(upTo: 256 << 10, at: offset) }
      }
      offset += piece.count
      for byte in piece {
        let isCommand =
          switch byte {
          case 0x09, 0x0A, 0x0C, 0x0D: false
          case 0x80...0x9F: last < 0x80 || last == 0xC2
          default: byte < 0x20 || byte == 0x7F
          }
        if isCommand {
          throw .usage(
            "it has control characters: -o - or --plain writes it to a terminal, -o FILE to a file")
        }
        last = byte
      }
    } while data == nil && !piece.isEmpty
  }

  /// Opens the file of an entry and checks it in full; nil on a miss.
  private func openFile(
    of target: Target, in cache: DiskCache
  ) throws(Failure) -> FileDescriptor? {
    let allowsExpired = arguments.has(.evenExpired)
    guard let key = target.key else {
      let reason = try missReason(
        ofFile: target.name, in: cache, allowingExpired: allowsExpired)
      if reason != nil { return nil }
      return try onCache { () throws(CacheError) -> FileDescriptor? in
        switch try cache.engine.reader.open(target.name.fileName, in: cache.engine.location.handle)
        {
        case .missed: return nil
        case .file(let file, _): return file
        }
      }
    }
    return try onCache { () throws(CacheError) -> FileDescriptor? in
      let found = try cache.read(
        cache.subject(key), for: .file, extending: arguments.has(.used) ? nil : .off,
        staleness: allowsExpired ? ReadContext.anyStaleness : .zero)
      guard let found else { return nil }
      return found.takeDescriptor()
    }
  }

  /// Runs a step that reads the value.
  private func onValue<Result>(_ step: () throws(Errno) -> Result) throws(Failure) -> Result {
    do throws(Errno) {
      return try step()
    } catch {
      throw Failure(error, doing: "read the value")
    }
  }

  /// Opens the output: stdout, or a file that appears when it is complete.
  private func output() throws(Failure) -> OutputFile {
    guard let path = arguments.file(.output), path != Self.dash else { return .standardOutput }
    return try onOutput { () throws(Errno) in try OutputFile(Path(path)) }
  }

  private func finish(_ output: inout OutputFile) throws(Failure) {
    do throws(Errno) {
      try output.finish()
    } catch {
      throw outputFailure(error)
    }
  }

  /// Copies in pieces of 256 KiB, so that the memory does not depend on the size of the value.
  private func copy(
    _ file: borrowing FileDescriptor, to output: borrowing OutputFile
  ) throws(Failure) {
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try onValue { () throws(Errno) in try file.read(into: &piece) }
      if count == 0 { return }
      try onOutput { () throws(Errno) in try output.write(piece.span.extracting(..<count)) }
    }
  }

  private func onOutput<Result: ~Copyable>(
    _ step: () throws(Errno) -> Result
  ) throws(Failure) -> Result {
    do throws(Errno) {
      return try step()
    } catch {
      throw outputFailure(error)
    }
  }

  private func outputFailure(_ errno: Errno) -> Failure {
    let path = arguments.file(.output) ?? Self.dash
    if path == Self.dash, errno == .brokenPipe { return .brokenPipe }
    let name = path == Self.dash ? "stdout" : path.quotedForDisplay
    return Failure(errno, doing: "write to \(name)")
  }
}

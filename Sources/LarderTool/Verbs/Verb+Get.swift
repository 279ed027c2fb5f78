import Larder

extension Verb {
  /// `larder get`
  static let get = Verb(
    name: "get",
    summary: "Write the value of a key to stdout or a file",
    synonyms: ["read", "cat", "fetch", "show", "load"],
    operands: [.directory, .key],
    ownOptions: [.output, .dataOnly, .used, .fileExtension, .keyFile],
    rules: [.jsonNeedsOutput],
    notes: [
      """
      A miss gives status 1, nothing on stdout and no file. The value is checked in full before \
      its first byte leaves, and FILE appears when it is whole. What is no regular file, such as \
      /dev/null, is written in place.
      """,
      """
      With --data-only the data beside the value, as put --data keeps them, take its place; \
      nothing is written where there are none, and that is no miss. The object of --json has both.
      """,
    ],
    run: { call throws(Failure) in try call.get() })
}

extension Option {
  /// The file for the value.
  static let output = Option("output", "o", .file, "Write the value to a file (-: stdout)")
  /// The flag to write the extended data instead of the value.
  static let dataOnly = Option(
    "data-only", nil, .flag, "Write the extended data in the place of the value")
  /// The flag that makes the read count as a use. Without it, nothing changes in the directory.
  static let used = Option("used", nil, .flag, "Count as use: move the last access")
}

extension Rule {
  /// The rule that the JSON object and the value do not share stdout.
  static let jsonNeedsOutput = Rule("--json needs -o FILE, since the value would mix with it") {
    !$0.has(.json) || ($0.file(.output) ?? [0x2D]) != [0x2D]
  }
}

extension Call {
  /// Writes the value of a key to stdout or a file.
  func get() throws(Failure) -> ExitCode {
    let key = try key()
    let cache = try openForGetting(key)
    let delivered = try deliver(key, from: cache)
    try onCache { () throws(CacheError) in try cache.close() }
    guard let delivered else { return try reportMiss(cache.statistics.misses.keys.first) }
    if isJSON {
      let members: [(String, JSONValue)] = [
        ("schema", 1), ("found", true), ("size", JSONValue(delivered.byteCount)),
        ("name", .string(EntryName(key, fileExtension: cache.fileExtension).description)),
      ]
      try console.print(
        .object(
          members.map { JSONValue.Member(name: $0.0, value: $0.1) }
            + JSONValue.dataMembers(delivered.data)))
    }
    return .fine
  }

  /// Reports a miss with its reason, and returns the exit status.
  private func reportMiss(_ reason: MissReason?) throws(Failure) -> ExitCode {
    if isJSON {
      try console.print([
        "schema": 1, "found": false, "reason": JSONValue((reason ?? .absent).rawValue),
      ])
    }
    console.say("no value: \((reason ?? .absent).sentence)")
    return reason == .otherVersion ? .notACache : .finding
  }

  /// Opens the cache with the extension of the key's file. Only `--used` opens it for writing.
  private func openForGetting(_ key: CacheKey) throws(Failure) -> DiskCache {
    // Opened twice: the first time to find the extension, which is a fixed setting of a cache.
    let lookup = try openForReading()
    let name = try names(of: [key], in: lookup)[0]
    guard arguments.has(.used) else {
      return try openForReading(fileExtension: name.fileExtension)
    }
    return try openForWriting { configuration in
      configuration.setFileExtension(name.fileExtension)
      // With zero, the use is stamped at once, because the command does not wait for a later drain.
      configuration.recencyGranularity = .zero
    }
  }

  /// Copies the value to the output, after it was checked in full.
  ///
  /// - Returns: The length of the value and its extended data; nil on a miss.
  private func deliver(
    _ key: CacheKey, from cache: DiskCache
  ) throws(Failure) -> (byteCount: Int, data: [UInt8])? {
    let extending = arguments.has(.used) ? nil : ExpirationExtending.off
    do {
      return try cache.withFile(forKey: key, extending: extending) { file in
        // Only after the value was found and checked, because a miss must not create FILE.
        let data = try file.extendedData()
        var output = try self.output()
        if arguments.has(.dataOnly) {
          try onOutput { () throws(Errno) in try output.write(data.span) }
        } else {
          try copy(file, to: output)
        }
        try finish(&output)
        return (file.byteCount, data)
      }
    } catch let error as Failure {
      throw error
    } catch let error as CacheError {
      throw Failure(error, directory: arguments.directory)
    } catch {
      throw Failure(unexpected: error)
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
    _ file: borrowing EntryFile, to output: borrowing OutputFile
  ) throws(Failure) {
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try onCache { () throws(CacheError) in try file.read(into: &piece) }
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

import Glibc
import Larder

/// A teller of short stories: sequences of a few changes, each sequence in a directory of its own.
///
/// A line of the input is a number, `-` or the letters of what is there before, and a letter for
/// each change: `s` stores the first key, `o` the second, `w` stores the first in pieces, `q` only
/// where it is absent, `d` removes it, `t` touches it, `c` removes everything, `e` evicts all but
/// one, `m` moves the directory away so that it is made again.
struct CrashStory {
  private let options: CrashOptions
  private let marks: CrashMarks
  private var version = 0

  private static let keys = ["k/0", "k/1"]

  init(_ options: CrashOptions) throws {
    self.options = options
    marks = try CrashMarks(options.marks)
  }

  mutating func run() throws {
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 3 else { throw UsageError() }
      try tell(words[0], before: words[1], words[2])
    }
  }

  private mutating func tell(_ number: String, before: String, _ letters: String) throws {
    let directory = "\(options.directory)-\(number)"
    var disk = try CrashBenchmark.open(options, in: directory)
    for (place, letter) in before.enumerated() where letter != "-" {
      try change("\(number).before.\(place)", letter, directory, &disk)
    }
    marks.syncs(true)
    sync()
    marks.syncs(false)
    for (place, letter) in letters.enumerated() {
      try change("\(number).\(place)", letter, directory, &disk)
      // What any program beside the cache does now and then: the journal commits.
      if !options.isDurable, place % 2 == 0 { try commit() }
    }
    try disk.close()
    if !options.isDurable { try commit() }
  }

  private mutating func change(
    _ id: String, _ letter: Character, _ directory: String, _ disk: inout DiskCache
  ) throws {
    let key = Self.keys[letter == "o" ? 1 : 0]
    switch letter {
    case "s", "o", "w", "q": try store(id, letter, key, disk)
    case "d":
      marks.begin(id, "remove", key, 0)
      try disk.remove(forKey: key)
      marks.end(id, "removed")
    case "t": try disk.touch(forKey: key, expiration: .days(30))
    case "c":
      marks.begin(id, "clear", "*", 0)
      try disk.removeAll()
      marks.end(id, "removed")
    case "e":
      marks.begin(id, "trim", "*", 0)
      try disk.trim(toCount: 1)
      marks.end(id, "trimmed")
    case "m":
      // Nobody syncs the parent, so the old directory may be back after a cut.
      marks.begin(id, "trim", "*", 0)
      guard unsafe rename(directory, "\(directory)-\(id)") == 0 else { throw UsageError() }
      try disk.close()
      disk = try CrashBenchmark.open(options, in: directory)
      marks.end(id, "trimmed")
    default: throw UsageError()
    }
  }

  private mutating func store(
    _ id: String, _ letter: Character, _ key: String, _ disk: DiskCache
  ) throws {
    version += 1
    let value = CrashValue(key: key, version: version, isPlain: true)
    marks.begin(id, "store", key, version)
    let outcome: StoreOutcome
    switch letter {
    case "w":
      outcome = try disk.store(forKey: key, expiration: .never) { stream in
        let half = value.bytes.count / 2
        try stream.write(Array(value.bytes[..<half]))
        try stream.write(Array(value.bytes[half...]))
      }
    case "q": outcome = try disk.storeIfAbsent(value.bytes, forKey: key, expiration: .never)
    default: outcome = try disk.store(value.bytes, forKey: key, expiration: .never)
    }
    marks.end(id, outcome == .stored ? "stored" : "present")
  }

  private func commit() throws {
    let raw = unsafe open("\(options.directory)-unrelated", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard raw >= 0, CrashMarks.write([1], to: raw), fsync(raw) == 0 else { throw UsageError() }
    close(raw)
  }
}

#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDigest
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// The content of a schedule: caches, their processes, and the operations of each thread.
  ///
  /// Its text is one line: settings, caches, threads and failures, separated by bars.
  struct Scene: Sendable, Equatable {
    /// Whether files are stamped by a clock that ticks every 4 ms.
    var isCoarse = true
    /// The mean number of points between deadlines that come early; 0 for never.
    var early = 0
    /// The names under which an earlier process has left values.
    var initial: [Character] = []
    var caches: [CacheSpec] = []
    var threads: [ThreadSpec] = []
    var failures: [FailureSpec] = []

    /// One cache object.
    struct CacheSpec: Sendable, Equatable {
      var process = 0
      /// Whether it is a disk cache without a memory tier.
      var isDisk = false
      var mode = DiskCache.Mode.shared
      var coherence = DiskCache.Coherence.events
      var options: [Option: Int] = [:]
    }

    /// The settings that have a number.
    enum Option: String, Sendable, CaseIterable {
      case size, count, behind, granularity, durable, target, admit, ext, free, room, age, memory
      /// Whether another thread makes the watch, as in a large directory.
      case aside
      /// Whether loads are shared among processes, and the longest wait for another's, in ms.
      case shared, turn
    }

    /// The operations of a thread, with one cache or from outside.
    struct ThreadSpec: Sendable, Equatable {
      /// The cache; nil for a thread outside of all processes.
      var cache: Int?
      var operations: [Operation] = []
      /// Whether the operations run before all others, one after the other and without
      /// interruption.
      var isFirst = false
    }

    /// An operation of a thread: a letter, and for some verbs a name and a number.
    struct Operation: Sendable, Equatable {
      var verb: Verb
      var name: Character?
      var number: Int?
    }

    enum Verb: Character, Sendable, CaseIterable {
      case store = "S", absent = "A", read = "R", file = "F", whole = "V", stream = "W"
      case remove = "D", removeAll = "X", background = "B", trimCount = "T", trimSize = "U"
      case expire = "E", flush = "G", count = "N", total = "Z", entries = "L", load = "O"
      case failingLoad = "J"
      case reopen = "C", pause = "P", forget = "M", shortStore = "Q", contains = "H"
      case unlink = "r", touch = "t", use = "u", replace = "m", overflow = "o", kill = "k", plant =
        "w"
      case stop = "s", rescan = "n", extend = "Y", renew = "I"
      case loadFile = "K", cancelledLoad = "c", select = "j", trimAge = "d", verify = "v"
      case pressure = "p", own = "h", link = "l", stepBack = "b", take = "e", variants = "x"
      case stamp = "f", limit = "g", inPieces = "a", storeFile = "q", overwrite = "i"
      case damage = "!"
      case moveOut = "y", moveIn = "z", staleLoad = "~", nestedLoad = "&"
      case slowLoad = "%", unkeptLoad = "$", removeTag = "-"
    }

    /// A call that fails.
    struct FailureSpec: Sendable, Equatable {
      var process: Int
      var call: SystemCall
      var n: Int
      var count: Int
      var errno: Int32
    }
  }

  extension Scene.Operation {
    var text: String {
      "\(verb.rawValue)" + (name.map { "\($0)" } ?? "") + (number.map { "\($0)" } ?? "")
    }

    init?(_ text: Substring) {
      guard let first = text.first, let verb = Scene.Verb(rawValue: first) else { return nil }
      var rest = text.dropFirst()
      var name: Character?
      if let next = rest.first, next.isLetter {
        name = next
        rest = rest.dropFirst()
      }
      self.init(verb: verb, name: name, number: Int(rest))
    }
  }

  extension Scene {
    var text: String {
      var parts = ["\(isCoarse ? "coarse" : "fine") early=\(early) with=\(String(initial))"]
      parts += caches.map(\.text)
      parts += threads.map { thread in
        let subject =
          thread.cache.map { "\(thread.isFirst ? "q" : "c")\($0)" }
          ?? (thread.isFirst ? "qout" : "out")
        return ([subject] + thread.operations.map(\.text)).joined(separator: " ")
      }
      parts += failures.map {
        "fail p\($0.process) \($0.call.rawValue) \($0.n) \($0.count) \($0.errno)"
      }
      return parts.joined(separator: " | ")
    }

    init?(_ text: String) {
      for (index, part) in text.split(separator: "|").enumerated() {
        let words = part.split(separator: " ")
        guard let first = words.first else { return nil }
        if index == 0 {
          isCoarse = first == "coarse"
          early = words.value(of: "early").flatMap { Int($0) } ?? 0
          initial = words.value(of: "with").map { Array($0) } ?? []
        } else if first.hasPrefix("p") {
          guard let cache = CacheSpec(words) else { return nil }
          caches.append(cache)
        } else if first == "fail" {
          guard let failure = FailureSpec(words) else { return nil }
          failures.append(failure)
        } else {
          let operations = words.dropFirst().compactMap { Operation($0) }
          guard operations.count == words.count - 1 else { return nil }
          threads.append(
            ThreadSpec(
              cache: Int(first.dropFirst()), operations: operations, isFirst: first.hasPrefix("q")))
        }
      }
    }
  }

  extension Scene.CacheSpec {
    private static let modes: [(DiskCache.Mode, String)] = [
      (.shared, "shared"), (.exclusive, "exclusive"), (.readOnly, "readOnly"),
      (.fixture, "fixture"),
    ]
    private static let coherences: [(DiskCache.Coherence, String)] = [
      (.events, "events"), (.strict, "strict"), (.none, "none"),
    ]

    var text: String {
      let mode = Self.modes.first { $0.0 == self.mode }?.1 ?? ""
      let coherence = Self.coherences.first { $0.0 == self.coherence }?.1 ?? ""
      let numbers = Scene.Option.allCases.compactMap { option in
        options[option].map { "\(option.rawValue)=\($0)" }
      }
      return (["p\(process)", isDisk ? "disk" : "memory", mode, coherence] + numbers)
        .joined(separator: " ")
    }

    init?(_ words: [Substring]) {
      guard words.count >= 4, let process = Int(words[0].dropFirst()),
        let mode = Self.modes.first(where: { $0.1 == words[2] })?.0,
        let coherence = Self.coherences.first(where: { $0.1 == words[3] })?.0
      else { return nil }
      self.init(process: process, isDisk: words[1] == "disk", mode: mode, coherence: coherence)
      for option in Scene.Option.allCases {
        options[option] = words.value(of: option.rawValue).flatMap { Int($0) }
      }
    }
  }

  extension Scene.FailureSpec {
    init?(_ words: [Substring]) {
      guard words.count == 6, let process = Int(words[1].dropFirst()),
        let call = SystemCall(rawValue: String(words[2])), let n = Int(words[3]),
        let count = Int(words[4]), let errno = Int32(words[5])
      else { return nil }
      self.init(process: process, call: call, n: n, count: count, errno: errno)
    }
  }

  extension [Substring] {
    /// Returns the text after `name=`.
    fileprivate func value(of name: String) -> Substring? {
      first { $0.hasPrefix(name + "=") }.map { $0.dropFirst(name.count + 1) }
    }
  }
#endif

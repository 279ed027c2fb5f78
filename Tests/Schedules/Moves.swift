#if LARDER_SCHEDULES
  @testable import LarderDisk

  /// An operation that a thread of a small scene may have.
  struct Move: Sendable {
    /// Its spelling in a scene, with `?` for the name and 0 for the process.
    let text: String
    /// Whether a cache carries it out, and not an outsider.
    let isOwn: Bool
    /// Whether only a cache with memory has it.
    let needsMemory: Bool

    static let all: [Move] =
      [
        "S?100", "S?600", "Q?100", "A?100", "W?100", "R?", "V?", "F?", "H?", "D?", "Y?", "X", "B0",
        "B1", "j", "d0", "d60", "v", "T0", "T1", "U100", "E", "G", "N", "Z", "L", "C", "n", "P1",
        "P0", "P60", "P1000", "e?", "x?", "f?", "a?100", "q?100",
      ].map { Move(text: $0, isOwn: true, needsMemory: false) }
      + [
        "O?100", "O?600", "J?", "I?100", "K?100", "c?100", "~?100", "&?100", "M", "M1", "M2", "M3",
        "M4", "M5", "p", "g0",
        "g1", "g2", "g3",
      ].map {
        Move(text: $0, isOwn: true, needsMemory: true)
      }
      + [
        "r?", "t?", "u?", "h?", "l?", "!?", "w?240", "m", "o0", "k0", "s0", "b0", "P1000", "i?240",
        "y?",
        "y?1", "z?",
      ].map {
        Move(text: $0, isOwn: false, needsMemory: false)
      }

    /// The moves of a cache, and those of an outsider, by their verbs.
    static let verbs = [true, false].map { isOwn in
      Dictionary(grouping: all.filter { $0.isOwn == isOwn }) { $0.text.prefix(1) }
        .sorted { $0.key < $1.key }.map(\.value)
    }

    static let moveOut = Move(text: "y?", isOwn: false, needsMemory: false)

    var verb: Scene.Verb? { text.first.flatMap(Scene.Verb.init) }

    /// Whether its number is that of a process.
    var namesProcess: Bool { !isOwn && ["o0", "k0", "s0", "b0"].contains(text) }

    private static let numbers: [String: Int] = {
      var numbers: [String: Int] = [:]
      for (number, move) in all.enumerated() {
        let owner = move.isOwn ? "c" : "o"
        numbers[owner + move.text] = number
        // Another size or pause of the same verb counts as the first.
        let verb = owner + move.text.prefix(1)
        numbers[verb] = numbers[verb] ?? number
      }
      return numbers
    }()

    /// Returns the number of the move that an operation is; nil if it is none.
    static func number(of operation: Scene.Operation, isOwn: Bool) -> Int? {
      let owner = isOwn ? "c" : "o"
      let text = operation.text
      let name = operation.name.map { "\($0)" } ?? ""
      let bare = name.isEmpty ? text : "\(text.prefix(1))?\(text.dropFirst(1 + name.count))"
      return numbers[owner + bare] ?? numbers[owner + text.prefix(1)]
    }
  }

  extension Scene.Verb {
    /// Whether it moves the time of a file that it does not replace.
    var stampsFile: Bool { self == .extend || self == .stamp }
  }
#endif

import LarderTestSupport
import Testing

@testable import LarderTool

/// Laws for every verb, checked against its table.
struct ArgumentOrderTests {
  /// Returns a value that an option accepts.
  static func sample(of option: Option) -> String? {
    switch option.kind {
    case .flag: nil
    case .file: "file"
    case .fileExtension: "json"
    case .size: "1M"
    case .duration, .expiration: "1h"
    case .count: "3"
    case .data, .part: "etag"
    case .choice(_, let words): words.first
    }
  }

  /// Returns an accepted command line: the operands, and the options that the rules demand.
  static func line(of verb: Verb) -> (operands: [String], options: [Option]) {
    let demanded: [String: [Option]] = ["trim": [.trimToCount], "clear": [.force]]
    // Of the actions, `check` takes each option, and one directory.
    let isAction = verb.operands.contains { $0.role == .action }
    let operands = verb.operands.filter { !isAction || $0.role != .otherDirectory }
      .map { $0.role == .action ? "check" : $0.placeholder }
    return (operands, demanded[verb.name] ?? [])
  }

  static func arguments(_ line: [String]) throws -> Arguments {
    try ArgumentsTests.arguments(line.map { Array($0.utf8) })
  }

  @Test(arguments: Verb.all.map(\.name))
  func `the barest line of a verb is accepted`(name: String) throws {
    let verb = try #require(Verb.named(Array(name.utf8)))
    let (operands, options) = Self.line(of: verb)
    let words = options.flatMap { ["--\($0.name)"] + [Self.sample(of: $0)].compactMap(\.self) }
    _ = try Self.arguments([name] + words + operands)
  }

  @Test(arguments: Verb.all.map(\.name))
  func `an option may stand anywhere, its value attached or next`(name: String) throws {
    let verb = try #require(Verb.named(Array(name.utf8)))
    let (operands, demanded) = Self.line(of: verb)
    let optional = verb.ownOptions.filter { option in
      // What needs another operand or option beside it.
      ![Option.keyFile.name, Option.listsNames.name].contains(option.name)
        && !verb.rules.contains { $0.usage != nil }
        && !demanded.contains { $0.name == option.name }
    }
    for option in optional {
      for spelling in Self.spellings(of: option) {
        for place in 0...operands.count + 1 {
          var line = [name] + operands
          line.insert(contentsOf: spelling, at: place)
          #expect(try Self.arguments(line).has(option), "\(line)")
        }
      }
    }
  }

  static func spellings(of option: Option) -> [[String]] {
    let letter = option.letter.map { "-\($0)" }
    guard let value = sample(of: option) else {
      return [["--\(option.name)"]] + [letter].compactMap(\.self).map { [$0] }
    }
    let long = [["--\(option.name)", value], ["--\(option.name)=\(value)"]]
    return long + (letter.map { [[$0, value], [$0 + value], ["\($0)=\(value)"]] } ?? [])
  }

  @Test(arguments: Verb.all.map(\.name))
  func `an option of another verb is refused by name`(name: String) throws {
    let verb = try #require(Verb.named(Array(name.utf8)))
    for option in Verb.vocabulary where verb.option(named: option.name) == nil {
      let line = [name] + Self.spellings(of: option)[0]
      let error = #expect(throws: UsageError.self) { try Self.arguments(line) }
      #expect(try #require(error).message.contains("there is no option --\(option.name) here"))
    }
  }

  @Test(arguments: Verb.all.map(\.name))
  func `a value that is missing or unwanted is refused`(name: String) throws {
    let verb = try #require(Verb.named(Array(name.utf8)))
    for option in verb.ownOptions {
      let isFlag = option.kind == .flag
      let line = [name, isFlag ? "--\(option.name)=x" : "--\(option.name)"]
      let error = #expect(throws: UsageError.self) { try Self.arguments(line) }
      let reason = isFlag ? "takes no value" : "the value is missing"
      #expect(try #require(error).message.contains(reason))
    }
  }

  @Test(arguments: Verb.all.map(\.name))
  func `one argument too few or too many is refused`(name: String) throws {
    let verb = try #require(Verb.named(Array(name.utf8)))
    let (operands, options) = Self.line(of: verb)
    let words = options.flatMap { ["--\($0.name)"] + [Self.sample(of: $0)].compactMap(\.self) }
    let fewest = verb.operands.reduce(0) { $0 + $1.counts.lowerBound }
    for count in 0..<fewest {
      #expect(throws: UsageError.self) {
        try Self.arguments([name] + words + operands.prefix(count))
      }
    }
    guard verb.operands.allSatisfy({ $0.counts.upperBound == 1 }) else { return }
    #expect(throws: UsageError.self) { try Self.arguments([name] + words + operands + ["x"]) }
  }

  @Test func `no mixture of words and bytes traps`() {
    var random = SeededRandom(seed: 21)
    let words: [[UInt8]] =
      [
        "", "-", "--", "---", "--=", "-=", "-n", "-n=", "--to", "--to=", "1M", "d", "-o",
        "--key-file",
      ]
      .map { Array($0.utf8) } + [[0xFF], [0x2D, 0x2D, 0xFF], [0x2D, 0x00], [0x3D]]
      + Verb.all.map { Array($0.name.utf8) }
    for _ in 0..<5000 {
      let line = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        words.randomElement(using: &random) ?? []
      }
      do throws(UsageError) {
        _ = try Request(line)
      } catch {
        #expect(error.text.hasSuffix("--help\n"))
        #expect(error.text.utf8.allSatisfy { $0 == 0x0A || $0 >= 0x20 })
      }
    }
  }
}

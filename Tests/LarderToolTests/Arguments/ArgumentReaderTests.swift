import Testing

@testable import LarderTool

struct ArgumentReaderTests {
  /// Returns the tokens of a command line, each as a short text.
  static func steps(_ line: [String]) -> [String] {
    let bytes = line.map { Array($0.utf8) }
    return ArgumentReader(bytes, vocabulary: Verb.vocabulary).map { token in
      switch token {
      case .operand(let operand): String(decoding: operand, as: UTF8.self)
      case .unknown(let name): "?" + String(decoding: name, as: UTF8.self)
      case .option(let option, nil): "--\(option.name)"
      case .option(let option, let value?):
        "--\(option.name):" + String(decoding: value, as: UTF8.self)
      }
    }
  }

  static let lines: [([String], [String])] = [
    ([], []),
    (["a", "b"], ["a", "b"]),
    (["--json", "a"], ["--json", "a"]),
    (["--to", "1M", "d"], ["--to:1M", "d"]),
    (["--to=1M", "d"], ["--to:1M", "d"]),
    (["--to=", "d"], ["--to:", "d"]),
    (["--to=a=b"], ["--to:a=b"]),
    (["--to"], ["--to"]),
    (["-n", "5"], ["--first:5"]),
    (["-n5"], ["--first:5"]),
    (["-n=5"], ["--first:5"]),
    (["-n"], ["--first"]),
    (["-h"], ["--help"]),
    (["-hx"], ["--help:x"]),
    (["--json=yes"], ["--json:yes"]),
    (["--json="], ["--json:"]),
    (["-o", "-"], ["--output:-"]),
    (["--key-file", "-", "x"], ["--key-file:-", "x"]),
    (["-"], ["-"]),
    ([""], [""]),
    (["--", "--json", "-n", "--"], ["--json", "-n", "--"]),
    (["a", "--"], ["a"]),
    (["--to", "-5"], ["--to:-5"]),
    (["--to", "--json"], ["--to", "--json"]),
    (["--to", "--", "x"], ["--to", "x"]),
    (["-o", "-h"], ["--output", "--help"]),
    (["-o", "--odd"], ["--output:--odd"]),
    (["--nope=3", "-z", "---"], ["?--nope", "?-z", "?---"]),
    (["--JSON"], ["?--JSON"]),
  ]

  @Test(arguments: lines)
  func `a command line falls into operands and options`(line: [String], steps: [String]) {
    // After `--` an operand may look like an option. This text does not distinguish them.
    #expect(Self.steps(line) == steps)
  }

  @Test func `after the end of the options everything is an operand`() {
    let line = ["--", "--json", "--", "-n"].map { Array($0.utf8) }
    for token in ArgumentReader(line, vocabulary: Verb.vocabulary) {
      guard case .operand = token else { return #expect(Bool(false), "not an operand: \(token)") }
    }
  }

  @Test func `bytes that are not UTF-8 pass unharmed`() {
    let line: [[UInt8]] = [[0xFF, 0x2D], Array("--output=".utf8) + [0xFE, 0x80], [0x2D, 0xFF]]
    let tokens = Array(ArgumentReader(line, vocabulary: Verb.vocabulary))
    guard case .operand([0xFF, 0x2D]) = tokens[0], case .option(_, [0xFE, 0x80]) = tokens[1],
      case .unknown([0x2D, 0xFF]) = tokens[2]
    else { return #expect(Bool(false), "\(tokens)") }
  }
}

import Testing

@testable import LarderTool

struct RequestTests {
  static func request(_ line: [String]) throws -> Request {
    try Request(line.map { Array($0.utf8) })
  }

  /// Returns the request as a short text.
  static func text(_ line: [String]) throws -> String {
    switch try request(line) {
    case .run(let verb, _): "run \(verb.name)"
    case .help(let verb): "help \(verb?.name ?? "-")"
    case .version(let isJSON): "version \(isJSON)"
    }
  }

  @Test(arguments: [
    (["info", "d"], "run info"),
    (["--json", "info", "d"], "run info"),
    (["-n", "5", "list", "d"], "run list"),
    (["--", "info", "d"], "run info"),
    (["demo"], "run demo"),
    (["--help"], "help -"),
    (["-h"], "help -"),
    (["help"], "help -"),
    (["help", "trim"], "help trim"),
    (["trim", "--help"], "help trim"),
    (["--help", "trim"], "help trim"),
    (["trim", "--nonsense", "--help"], "help trim"),
    (["clear", "-h"], "help clear"),
    (["clear", "-hello"], "throws"),
    (["get", "d", "--help=no"], "throws"),
    (["help", "help"], "throws"),
    (["get", "d", "help"], "run get"),
    (["get", "d", "--", "--help"], "run get"),
    (["--version"], "version false"),
    (["--version", "--json"], "version true"),
    (["--help", "--version"], "help -"),
    (["--help", "frob"], "help -"),
    (["frob", "--help"], "help -"),
    (["help", "frob"], "throws"),
  ])
  func `a command line asks for one thing`(line: [String], text: String) {
    #expect((Result { try Self.text(line) }.success ?? "throws") == text)
  }

  @Test(arguments: [
    ([], "larder: a verb is missing: put, get, rm"),
    (["--"], "larder: a verb is missing"),
    (["--json"], "larder: a verb is missing"),
    (["dir", "d"], "larder: there is no verb 'dir'; did you mean list?"),
    (["delete", "d"], "larder: there is no verb 'delete'; did you mean rm?"),
    (["GET", "d"], "larder: there is no verb 'GET'; did you mean get?"),
    (["verfiy"], "larder: there is no verb 'verfiy'; did you mean verify?"),
    (["qqq"], "larder: there is no verb 'qqq'\n"),
    ([""], "larder: there is no verb ''\n"),
    (["\u{1b}[2J"], "larder: there is no verb '\\u{1b}[2J'\n"),
    (["--versoin"], "larder: there is no option '--versoin'; did you mean --version?"),
    (["list", "--version", "d"], "larder list: there is no option --version here; it stands"),
    (["help", "nope"], "larder: there is no verb 'nope'"),
  ])
  func `a mistake is named, with a cure where one is near`(line: [String], text: String) throws {
    let error = #expect(throws: UsageError.self) { try Self.request(line) }
    let message = try #require(error).text
    #expect(message.hasPrefix(text))
    #expect(message.contains("\nSee: larder") && message.hasSuffix("--help\n"))
  }

  @Test func `a verb of 128 KiB is refused in a short line`() throws {
    let word = [UInt8](repeating: 0xFF, count: 131_071)
    let error = #expect(throws: UsageError.self) { try Request([word]) }
    #expect(try #require(error).text.utf8.count < 200)
  }
}

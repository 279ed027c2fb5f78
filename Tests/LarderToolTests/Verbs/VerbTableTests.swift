import Testing

@testable import LarderTool

struct VerbTableTests {
  @Test func `the verbs are those of the contract, in its order`() {
    #expect(
      Verb.all.map(\.name) == [
        "put", "get", "rm", "path", "why", "list", "top", "info", "verify", "diff", "report",
        "watch",
        "expire", "trim", "clear", "stamp", "record", "fixture", "completions", "man", "demo",
      ])
  }

  @Test(arguments: [
    ("put", ["expires", "data", "variant", "ext", "key-file", "adopt"]),
    ("get", ["output", "data-only", "expired", "used", "name", "variant", "ext", "key-file"]),
    ("rm", ["name", "variant", "ext", "key-file", "variants"]),
    ("path", ["name", "variant", "ext", "key-file"]),
    ("list", ["sort", "first", "expired", "unused", "names"]), ("info", []), ("verify", ["repair"]),
    ("why", ["name", "variant", "ext", "key-file"]), ("top", ["first"]), ("diff", []),
    ("report", ["output", "limit", "order", "quick"]), ("completions", []),
    ("watch", ["limit", "first", "wait"]),
    ("man", []),
    ("expire", ["dry-run", "names"]),
    ("trim", ["to", "count", "age", "order", "force", "dry-run", "names"]),
    ("clear", ["force", "dry-run", "names"]), ("stamp", ["expires"]),
    ("record", ["expires", "data", "variant", "ext", "key-file", "adopt"]),
    ("fixture", ["allow-expired", "adopt"]),
    ("demo", []),
  ])
  func `a verb has its options, json, plain and help`(name: String, options: [String]) throws {
    let verb = try #require(Verb.named(Array(name.utf8)))
    #expect(verb.options.map(\.name) == options + ["json", "plain", "help"])
  }

  // Those that make the directory, or wait for it, have tests of their own.
  @Test func `a verb on a cache is tried on a directory that is none`() {
    let apart = ["record", "fixture", "watch"]
    let tried = `Directories that are no cache`.lines.map { $0[0] } + apart
    for verb in Verb.all where verb.operands.contains(where: { $0.role == .directory }) {
      #expect(tried.contains(verb.name), "\(verb.name)")
    }
  }

  @Test func `an option means one thing wherever it appears`() {
    for option in Verb.all.flatMap(\.options) {
      let same = Verb.vocabulary.filter { $0.name == option.name }
      #expect(same.count == 1)
      #expect(same[0].kind == option.kind && same[0].letter == option.letter)
    }
    let letters = Verb.vocabulary.compactMap(\.letter)
    #expect(Set(letters).count == letters.count)
  }

  @Test func `only the last place of a verb varies in number`() {
    for verb in Verb.all {
      #expect(verb.operands.dropLast().allSatisfy { $0.arity == .one })
      let isAboutLarder = ["demo", "man", "completions"].contains(verb.name)
      let places = verb.operands.drop { $0.role == .action }
      #expect(isAboutLarder || places.first?.role == .directory)
    }
  }

  @Test func `every verb with a key takes it from a file too`() {
    for verb in Verb.all where verb.operands.contains(where: { $0.role == .key }) {
      #expect(verb.option(named: "ext") != nil)
      #expect(verb.option(named: "key-file") != nil)
    }
  }

  @Test func `no synonym or alias is a verb or points to two`() {
    let synonyms = Verb.all.flatMap { $0.synonyms + ($0.alias.map { [$0] } ?? []) }
    #expect(Set(synonyms).count == synonyms.count)
    #expect(Set(synonyms).isDisjoint(with: Verb.all.map(\.name)))
    #expect(Verb.named(Array("ls".utf8))?.name == "list")
  }

  @Test(arguments: [
    ("put", "larder put [OPTIONS] DIR KEY [FILE|-]"), ("get", "larder get [OPTIONS] DIR KEY"),
    ("rm", "larder rm [OPTIONS] DIR KEY..."), ("demo", "larder demo [OPTIONS]"),
    ("trim", "larder trim (--to SIZE | --count N | --age D) [OPTIONS] DIR"),
    ("clear", "larder clear --force [OPTIONS] DIR"),
    ("stamp", "larder stamp [OPTIONS] DIR [FILE...]"),
  ])
  func `the usage line is made from the table`(name: String, usage: String) throws {
    #expect(try #require(Verb.named(Array(name.utf8))).usage == usage)
  }
}

import Foundation
import Testing

/// Code in the pages and in doc comments names what exists: calls with their labels, members,
/// products, options of the command. What stands in blocks of Swift is compiled as well, by
/// `ArticleTests`.
struct `A name in the documentation` {
  private static let modules = [
    "LarderSystem", "LarderBasics", "LarderMemory", "LarderDisk", "Larder", "LarderFixtures",
    "LarderFoundation", "LarderHTTP",
  ]

  /// Names of other programs that pages mention, and no source declares.
  private static let foreign: Set = [
    "main", "max", "swift", "gitattributes", "gitignore", "gitkeep", "iB", "textContent",
    // The command's own codes in JSON, and the C library.
    "notACache", "clock_gettime", "sysconf", "signal", "renameat2", "eventfd", "limit_in_bytes",
    // The manifest of a package, and other caches in sentences.
    "when", "linux", "os",
    // Frameworks for servers.
    "addServices", "fileRegion", "getWithTTL",
    // Types of Foundation, under which the reference lists what LarderFoundation adds.
    "FoundationEssentials", "URL", "Date",
    "retrieveImage", "onlyFromCache", "fromMemoryCacheOrRefresh", "removeExpiredObjects",
  ]

  private static func declarations(
    in modules: [String], publicOnly: Bool
  ) throws -> Declarations {
    var all = Declarations()
    let paths = try modules.flatMap {
      try Articles.files(below: "Sources/\($0)", suffix: ".swift")
    }
    for path in paths {
      all.add(try Readme.text(of: path), publicOnly: publicOnly)
    }
    return all
  }

  /// What users see, which pages for users may name.
  private static let published = Result {
    Mentions(declared: try declarations(in: modules, publicOnly: true), foreign: foreign)
  }
  private static let declared = Result {
    Mentions(
      declared: try declarations(in: modules + ["LarderDigest", "LarderTool"], publicOnly: false),
      foreign: foreign)
  }

  /// All pages, and which may name what is not public.
  private static func pages() throws -> [(path: String, isInternal: Bool)] {
    let guides = try Articles.names.map { "Sources/Larder/Larder.docc/\($0)" }
    let internals = ["Architecture.md", "Contributing.md"]
    return (["README.md"] + guides).map { path in
      (path, internals.contains(where: path.hasSuffix))
    }
  }

  @Test func `of a page is declared, with these labels`() throws {
    for (path, isInternal) in try Self.pages() {
      let mentions = try (isInternal ? Self.declared : Self.published).get()
      for span in Mentions.spans(of: try Self.text(of: path)) {
        #expect(mentions.complaints(about: span) == [], "\(path): \(span)")
      }
    }
  }

  @Test func `of a doc comment is declared, with these labels`() throws {
    let mentions = try Self.declared.get()
    for path in try Articles.files(below: "Sources", suffix: ".swift") {
      for span in Mentions.spans(of: try Articles.docComments(at: path)) {
        #expect(mentions.complaints(about: span) == [], "\(path): \(span)")
      }
    }
  }

  /// A page without the columns that name what other caches have.
  private static func text(of path: String) throws -> String {
    let text = try Readme.text(of: path)
    guard path.hasSuffix("MigratingFromOtherCaches.md") else { return text }
    return text.components(separatedBy: "\n").map { line in
      line.hasPrefix("|") ? line.split(separator: "|").dropFirst().joined(separator: "|") : line
    }.joined(separator: "\n")
  }

  @Test func `that begins with Larder is a module or a product`() throws {
    let manifest = try Readme.text(of: "Package.swift")
    let products = Set(
      manifest.matches(of: #/\.(?:library|executable)\(name: "(\w+)"/#).map { $0.1 })
    let targets = Set(manifest.matches(of: #/"(Larder\w*)"/#).map { $0.1 })
    for (path, _) in try Self.pages() {
      let text = try Readme.text(of: path)
      for match in text.matches(of: #/\.product\(name: "(\w*)", package: "larder"/#) {
        #expect(products.contains(match.1), "\(path): \(match.0)")
      }
      for match in text.matches(of: #/\bLarder[A-Za-z]*\b/#) {
        let name = match.output
        #expect(targets.contains(name) || name == "Larder", "\(path): \(name)")
      }
    }
  }

  @Test func `of a verb or an option is one that the command has`() throws {
    var callCount = 0
    for (path, _) in try Self.pages() {
      for code in CommandLines.code(of: try Readme.text(of: path)) {
        #expect(CommandLines.complaints(about: code) == [], "\(path): \(code)")
        callCount += code.matches(of: #/\blarder [a-z]+/#).count
      }
    }
    #expect(callCount > 60)
  }

  @Test(arguments: [
    "larder lst DIR", "larder list DIR --unusd", "larder get DIR KEY -x", "larder --versions",
    "sh\nlarder list DIR --json | jq . | xargs -r larder rm DIR --names", "larder list DIR --used",
    "console\n$ larder why pages k --expired", "ini\nExecStart=/usr/local/bin/larder expires DIR",
  ])
  func `of a verb or an option that there is not is found`(code: String) throws {
    #expect(CommandLines.complaints(about: code[...]) != [])
    let page = "# Page\n\n```\(code.contains("\n") ? code : "sh\n\(code)")\n```\n"
    #expect(CommandLines.code(of: page).flatMap(CommandLines.complaints(about:)) != [])
  }

  @Test(arguments: [
    "larder ls DIR -n 5 --sort size", "larder man | man -l -", "larder --version",
    "sh\nlarder list DIR --json | jq -r '.entries[] | select((.key // \"\") | length)' --argv",
    "larder record DIR 'a larder lst --none' FILE", "\nMade by larder 0.1.0.", "larder VERB --help",
  ])
  func `of a verb or an option that there is is not`(code: String) throws {
    #expect(CommandLines.complaints(about: code[...]) == [])
  }

  // The mistakes that once went unnoticed in the README, and others like them.
  @Test(arguments: [
    "cache.disk.trimm(toCost:)", "trimm(toCost:)", "trim(toCosts:)", "cache.disk.surveyy()",
    "cache.withFil(forKey: key) { file in … }", "fixture.clock.advanceBy()",
    "fixture.clock.advance(to:)", "try Cache(name: \"pages\", coder: .bytes)", "sizeLimmit",
    "DiskCache/Configuration/sizeLimmit", "Cache/init(named:decoder:configuration:)",
    "cache.statistics.hitRates", ".staleIfFailure(.seconds(60))", "removeAll(were:)",
    "store(…, extendData: etag)",
  ])
  func `that is misspelt is found`(span: String) throws {
    #expect(try Self.published.get().complaints(about: span[...]) != [])
  }

  @Test(arguments: [
    "cache.disk.trim(toCost:)", "trim(toCost: 5)", "withFile(forKey: key) { file in … }",
    "value(forKey:orStore:)", "try Cache(named: \"pages\", coder: .bytes)", "CACHEDIR.TAG",
    "store(…, extendedData: etag)", "[.diskOnly, .staleIfFailing(.seconds(60))]", "rm FILE",
    "DiskCache/trim(toCount:)", "removeAll { $0.byteCount > 1 << 20 }", "main.swift",
  ])
  func `that is right is not`(span: String) throws {
    #expect(try Self.published.get().complaints(about: span[...]) == [])
  }
}

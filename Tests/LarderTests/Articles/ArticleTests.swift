import Foundation
import LarderFixtures
import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct `An article` {
  /// The verbs of the command, as its table lists them.
  private static var verbs: [String] {
    get throws {
      let text = try Readme.text(of: "Sources/LarderTool/Arguments/Verb+All.swift")
      let list = try #require(text.firstMatch(of: #/all: \[Verb\] = \[(?<names>[^\]]*)\]/#)).names
      return list.matches(of: #/\w+/#).map { String($0.output) }
    }
  }

  @Test func `shows no Swift that is not compiled here, and no doc comment does`() throws {
    let compiled = try Articles.compiledLines()
    let guides = try Articles.names.map { "Sources/Larder/Larder.docc/\($0)" }
    let sources = try Articles.files(below: "Sources", suffix: ".swift")
    let blocks = try (["README.md"] + guides + sources)
      .flatMap { try Articles.blocks(at: $0, in: "swift") }
    #expect(blocks.count > 60)
    for block in blocks {
      // `ReadmeMainTests` compiles whole programs as such, unless they need other packages.
      let isAlone = !block.lines.contains("import Hummingbird")
      if isAlone, block.lines.contains("@main") { continue }
      let shown = block.lines.map(Articles.squeezed).filter {
        !$0.isEmpty && !$0.hasPrefix("import Larder")
      }
      #expect(compiled.firstRange(of: shown) != nil, "\(block)")
    }
  }

  // Where readers paste code, calls that wait for the disk are awaited, and nothing internal is
  // visible.
  @Test func `shows Swift for an asynchronous function and by public names alone`() throws {
    for path in try Articles.snippetFiles() {
      let text = try Readme.text(of: path)
      #expect(!text.contains("@testable"), "\(path)")
      let functions = text.matches(of: #/(?m)^(?:private )?func (?<name>\w+)(?<rest>[^{]*)\{$/#)
      #expect(functions.count > 0, "\(path)")
      for function in functions {
        #expect(function.rest.contains("async throws"), "\(path): \(function.name)")
      }
    }
  }

  @Test func `shows what a shell prints of the fixture that is checked in`() throws {
    let blocks = try Articles.blocks(of: "TestingWithFixtures.md", in: "console")
    let root = URL(filePath: Fixture.root).deletingLastPathComponent().path
    #expect(blocks.count == 1)
    for step in FormatPage.steps(in: blocks[0].lines) {
      #expect(try Shell.run(step.command, in: root) == step.output, "\(step.command)")
    }
  }

  @Test func `names the command's verbs as they are`() throws {
    let verbs = try Self.verbs + ["ls"]
    for article in try Articles.names {
      let text = try Readme.text(of: "Sources/Larder/Larder.docc/\(article)")
      for match in text.matches(of: #/`larder (?<verb>[a-z]+)/#) {
        #expect(verbs.contains(String(match.verb)), "\(article): \(match.output.0)")
      }
    }
  }

  @Test func `tells every error and its code`() throws {
    let text = try Readme.text(of: "Sources/Larder/Larder.docc/HandlingErrors.md")
    for code in CacheError.Code.allCases { #expect(text.contains("\n| `\(code.rawValue)` |")) }
  }

  @Test func `tells every setting that stops a program`() throws {
    let text = try Readme.text(of: "Sources/Larder/Larder.docc/HandlingErrors.md")
    let source = try Readme.text(of: "Sources/LarderDisk/DiskCache.Configuration.swift")
    for match in source.matches(of: #/precondition\(.*"(?<name>\w+) is (?<rule>[^"]+)"\)/#) {
      #expect(text.contains("`\(match.name)`") || text.contains("`\(match.name) is \(match.rule)`"))
    }
  }

  @Test func `has a row for each verb of the command`() throws {
    let text = try Readme.text(of: "Sources/Larder/Larder.docc/TheCommand.md")
    for verb in try Self.verbs { #expect(text.contains(try Regex("larder \(verb)\\b")), "\(verb)") }
  }

  @Test func `is linked from the first page`() throws {
    let page = try Readme.text(of: "Sources/Larder/Larder.docc/Larder.md")
    for article in try Articles.names where article != "Larder.md" {
      #expect(page.contains("<doc:\(article.dropLast(3))>"), "\(article)")
    }
  }
}

import Foundation
import LarderFixtures
import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct `An article` {
  @Test func `shows no Swift that is not compiled here`() throws {
    let compiled = try Articles.compiledLines()
    let blocks = try Articles.names.flatMap { try Articles.blocks(of: $0, in: "swift") }
    // Without the README's first block, which has a test of its own that also runs it.
    for block in try blocks + Articles.blocks(at: "README.md", in: "swift").dropFirst() {
      let shown = block.lines.map(Articles.squeezed).filter {
        !$0.isEmpty && $0 != "import Larder"
      }
      #expect(compiled.firstRange(of: shown) != nil, "\(block)")
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
    let verbs = [
      "put", "get", "rm", "path", "list", "info", "verify", "expire", "trim", "clear", "stamp",
      "record", "fixture", "demo", "top", "watch", "diff", "why", "report", "completions", "man",
    ]
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

  @Test func `is linked from the first page`() throws {
    let page = try Readme.text(of: "Sources/Larder/Larder.docc/Larder.md")
    for article in try Articles.names where article != "Larder.md" {
      #expect(page.contains("<doc:\(article.dropLast(3))>"), "\(article)")
    }
  }
}

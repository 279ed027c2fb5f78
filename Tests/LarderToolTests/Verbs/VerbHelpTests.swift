import Testing

@testable import LarderTool

struct VerbHelpTests {
  static let texts = Verb.all.map { $0.helpText(width: 80, style: .plain) }

  @Test func `every option and operand is explained`() {
    for (verb, text) in zip(Verb.all, Self.texts) {
      #expect(text.hasPrefix("larder \(verb.name): "))
      #expect(verb.options.allSatisfy { text.contains("  \($0.term)") })
      #expect(verb.operands.allSatisfy { text.contains("  \($0.placeholder)  ") })
      #expect(text.contains("Usage: larder \(verb.name)"))
    }
  }

  @Test func `a KEY that may be a name is not said to be a key alone`() {
    for (verb, text) in zip(Verb.all, Self.texts) where verb.notes.contains(Verb.targetNote) {
      let row = text.split(separator: "\n").first { $0.hasPrefix("  KEY  ") }
      #expect(row?.hasSuffix("  The key, byte for byte, or the name of the entry's file") == true)
    }
    #expect(Verb.all.count { $0.notes.contains(Verb.targetNote) } == 3)
  }

  @Test func `rules and the writing of values are explained`() {
    let trim = Verb.trim.helpText(width: 100, style: .plain)
    #expect(trim.contains("Exactly one of --to, --count, --age is needed."))
    #expect(trim.contains("Sizes are bytes") && trim.contains("Durations end in"))
    #expect(!Verb.info.helpText(width: 100, style: .plain).contains("Sizes are"))
  }

  @Test func `the overview names every verb and status`() {
    let text = Verb.overview(width: 80, style: .plain)
    #expect(
      Verb.all.allSatisfy {
        text.contains("\n  \($0.name)") && text.contains($0.summary.prefix(30))
      })
    #expect(ExitCode.allCases.allSatisfy { text.contains("\n  \($0.rawValue)  \($0.meaning)") })
  }

  @Test(arguments: [-1, 0, 40, 80, 100, 1000, .max])
  func `no line is wider than the terminal or 100 columns`(width: Int) {
    let limit = min(max(width, 40), 100)
    let texts = Verb.all.map { $0.helpText(width: width, style: .plain) }
    for text in texts + [Verb.overview(width: width, style: .plain)] {
      let lines = text.split(separator: "\n")
      #expect(lines.allSatisfy { String($0).displayWidth <= limit })
    }
  }

  @Test func `help is plain ASCII without trailing spaces`() {
    for text in Self.texts + [Verb.overview(width: 80, style: .plain)] {
      #expect(text.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
      #expect(!text.contains(" \n") && !text.contains("\n\n\n") && text.hasSuffix("\n"))
    }
  }

  @Test func `sentences of options have no full stop`() {
    for option in Verb.vocabulary {
      #expect(!option.help.hasSuffix(".") && option.help.first?.isUppercase == true)
    }
  }
}

import Testing

@testable import LarderTool

struct AnswerTests {
  @Test func `help goes to stdout with status 0`() throws {
    let answer = try #require(Answer(.help(nil), width: 80, style: .plain))
    #expect(answer.standardOutput.hasPrefix("larder: "))
    #expect(answer.standardError.isEmpty)
    #expect(answer.exitCode == .fine)
  }

  @Test func `a verb's help is about that verb`() throws {
    let answer = try #require(Answer(.help(.trim), width: 80, style: .plain))
    #expect(answer.standardOutput.hasPrefix("larder trim: "))
  }

  @Test func `a mistake goes to stderr with status 2`() {
    let answer = Answer(UsageError("nothing fits", verb: .get))
    #expect(answer.standardOutput.isEmpty)
    #expect(answer.standardError == "larder get: nothing fits\nSee: larder get --help\n")
    #expect(answer.exitCode == .usage)
  }

  @Test func `the version is a line or an object`() throws {
    let line = try #require(Answer(.version(isJSON: false), width: 80, style: .plain))
    #expect(line.standardOutput == "larder \(Version.current) (directory format 1)\n")
    let object = try #require(Answer(.version(isJSON: true), width: 80, style: .plain))
    #expect(
      object.standardOutput
        == "{\n  \"schema\": 1,\n  \"version\": \"\(Version.current)\",\n  \"format\": 1\n}\n")
  }

  @Test func `a verb is not answered but carried out`() throws {
    let request = try Request(["info", "d"].map { Array($0.utf8) })
    #expect(Answer(request, width: 80, style: .plain) == nil)
  }
}

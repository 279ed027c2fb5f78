import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem
@testable import LarderTool

@Suite(
  .enabled("git is not installed, or no attributes under the temporary folder") {
    Shell.has("git") && FileSystemFeatures.hasAttributes
  })
struct `A repository with a fixture` {
  private let scene: TemporaryDirectory
  private var clone: String { scene.path + "/clone" }
  private let numbers = (1...20).map { "\($0)\n" }

  init() throws {
    scene = try TemporaryDirectory()
    try git("init -q origin; cd origin; git config core.autocrlf true")
    try record("windows", "one\r\ntwo\r\n", in: "origin")
    try record("unix", "one\ntwo\n", in: "origin")
    try commit("origin")
    // As on a machine whose git converts line endings by default.
    try git("clone -q -c core.autocrlf=true origin clone")
  }
}

extension `A repository with a fixture` {
  /// Runs git with a fixed user, whatever the machine's configuration is.
  @discardableResult
  private func git(_ arguments: String, in folder: String = "") throws -> String {
    try Shell.run(
      "git \(arguments)", in: "\(scene.path)/\(folder)",
      [
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
      ])
  }

  private func commit(_ folder: String) throws {
    try git("add -A; git commit -q -m record", in: folder)
  }

  private func record(_ key: CacheKey, _ value: String, in folder: String) throws {
    try FixtureDirectory("\(scene.path)/\(folder)/fixture", makesDirectory: true).record(
      .init(Array(value.utf8), expiration: .days(1)), forKey: key, at: FixtureDirectory.start)
  }

  @Test func `gives a clone every byte, and is unchanged by a test that does everything`() throws {
    #expect(try FixtureDirectory(clone + "/fixture").check().findings.isEmpty)
    let fixture = try LarderFixtures.Fixture(clone + "/fixture", isRecording: false)
    let cache = try Cache(fixture: fixture, coder: .string)
    #expect(try cache.value(forKey: "windows") == "one\r\ntwo\r\n")
    #expect(try cache.value(forKey: "unix") == "one\ntwo\n")
    try cache.store("new", forKey: "unix")
    try cache.store("other", forKey: "other")
    fixture.clock.advance(by: .seconds(1_000_000))
    try cache.removeExpired()
    try cache.removeAll()
    try cache.close()
    #expect(try git("status --porcelain --ignored", in: "clone").isEmpty)
    // Compared by tree too, because git does not read a file whose stamps it knows.
    let trees = try ["origin", "clone"].map { try git("write-tree", in: $0) }
    #expect(trees[0] == trees[1])
    #expect(try git("diff-files", in: "clone").isEmpty)
  }

  @Test func `merges what two branches recorded, and a check asks for order`() throws {
    try git("checkout -q -b theirs", in: "clone")
    try record("theirs", "1", in: "clone")
    try commit("clone")
    try git("checkout -q -b ours origin/HEAD", in: "clone")
    try record("ours", "2", in: "clone")
    try commit("clone")
    try git("merge -q -m merge theirs", in: "clone")
    let directory = try FixtureDirectory(clone + "/fixture")
    #expect(try directory.manifest().lines.count == 4)
    #expect(try directory.check().findings.allSatisfy { $0.kind == .unsorted })
    try directory.pack(from: clone + "/fixture")
    #expect(try directory.check().findings.isEmpty)
  }

  @Test func `sees an edit by hand as an edit, which a test takes as it is`() throws {
    try Shell.run("printf edited > fixture/\(EntryName(CacheKey("unix")))", in: clone)
    #expect(try FixtureDirectory(clone + "/fixture").check().findings.map(\.kind) == [.changed])
    let cache = try Cache(fixture: clone + "/fixture", coder: .string)
    #expect(try cache.value(forKey: "unix") == "edited")
  }

  /// Lets two branches record one key, and merges them.
  private func collide(_ ours: String, _ theirs: String) throws {
    for (branch, value) in [("theirs", theirs), ("ours", ours)] {
      try git("checkout -q -b \(branch) origin/HEAD", in: "clone")
      try record("unix", value, in: "clone")
      try commit("clone")
    }
    try git("merge -q -m merge theirs || true", in: "clone")
  }

  @Test func `asks which of two recordings of one key to keep`() throws {
    try record("unix", numbers.joined(), in: "origin")
    try commit("origin")
    try git("pull -q", in: "clone")
    let ours = (["two\n"] + numbers.dropFirst()).joined()
    try collide(ours, (numbers.dropLast() + ["nineteen\n"]).joined())
    let directory = try FixtureDirectory(clone + "/fixture")
    let name = EntryName(CacheKey("unix"))
    let content = try String(contentsOfFile: clone + "/fixture/\(name)", encoding: .utf8)
    // Git reports a conflict and leaves the file of the branch that it is on.
    #expect(content == ours)
    #expect(try git("diff --name-only --diff-filter=U", in: "clone").contains("\(name)"))
    #expect(try directory.check().findings.contains { $0.kind == .doubled })
    try directory.pack(from: clone + "/fixture")
    #expect(try directory.check().findings.isEmpty)
  }

  @Test func `is told of marks and of merged content that other settings left`() throws {
    let attributes = clone + "/fixture/.gitattributes"
    try Data("* -text\nmanifest merge=union\n".utf8).write(to: URL(filePath: attributes))
    try commit("clone")
    try git("update-ref refs/remotes/origin/HEAD HEAD", in: "clone")
    try collide("1\n", "2\n")
    let directory = try FixtureDirectory(clone + "/fixture")
    let name = EntryName(CacheKey("unix"))
    // The marks fit neither line, so nothing takes them for a recording.
    #expect(try directory.pack(from: clone + "/fixture").refusals.map(\.name) == [name])
    #expect(throws: CacheError.self) { try Cache(fixture: clone + "/fixture", coder: .string) }
    try Shell.run("sed -i '/^\(name)/{N;s/.*\\n//}' manifest", in: clone + "/fixture")
    try directory.pack(from: clone + "/fixture")
    let kinds = try Set(directory.check().findings.map(\.kind))
    #expect(kinds == [.unprotected, .conflicted])
  }
}

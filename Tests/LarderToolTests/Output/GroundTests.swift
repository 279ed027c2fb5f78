import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem
@testable import LarderTool

/// The output of `info` and `why` on the file system.
struct `What a cache is on` {
  private static func ground(
    _ name: String, isNetwork: Bool, findsFilesByPath: Bool = false, hasAttributes: Bool = true
  ) -> Ground {
    let kind = FileSystemKind(name: name, isNetwork: isNetwork, findsFilesByPath: findsFilesByPath)
    return Ground(kind, kind.weakerPromises(hasAttributes: hasAttributes))
  }

  private static let local = ground("ext4", isNetwork: false)
  private static let gluster = ground("fuse.glusterfs", isNetwork: true)
  private static let ceph = ground("fuse.ceph-fuse", isNetwork: true)
  private static let sshfs = ground(
    "fuse.sshfs", isNetwork: true, findsFilesByPath: true, hasAttributes: false)

  @Test func `a local disk with attributes keeps all that is promised`() {
    #expect(Self.local.lines.map { [$0.0, $0.1] } == [["file system", "ext4"]])
    #expect(Self.local.sentence == nil)
  }

  @Test(arguments: [
    (local, []),
    (ground("vfat", isNetwork: false, hasAttributes: false), ["proof"]),
    (gluster, ["coherence", "limit", "exclusive", "lending"]),
    (ceph, ["coherence", "limit", "exclusive"]),
    (
      ground("nfs4", isNetwork: true),
      ["coherence", "limit", "exclusive", "temporaries", "lending"]
    ),
    (sshfs, ["coherence", "limit", "exclusive", "temporaries", "lending", "writing", "proof"]),
  ])
  func `each weaker promise has one word for scripts`(ground: Ground, words: [String]) {
    #expect(ground.weakerPromises.map(\.name) == words)
    let members = Dictionary(uniqueKeysWithValues: ground.jsonMembers.map { ($0.name, $0.value) })
    #expect(members["file_system"] == .string(ground.fileSystem.name))
    #expect(members["network"] == .bool(ground.fileSystem.isNetwork))
    guard case .object(let promises)? = members["weaker_promises"] else {
      Issue.record("no object")
      return
    }
    #expect(promises.map(\.name) == words)
  }

  @Test func `people read a line for each`() throws {
    var survey = DirectorySurvey()
    survey.entryCount = 7
    let text = survey.text(
      DirectoryFacts(directory: "/srv", ground: Self.gluster, unusedCount: nil, clock: []),
      at: Timestamp(seconds: 0), style: TextStyle(usesEscapes: false), width: nil)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("file") || $0.hasPrefix("weak") }
    #expect(
      lines.first == "file system  GlusterFS (fuse.glusterfs), which other machines may share")
    #expect(lines.count == 5)
    #expect(lines.allSatisfy { $0.count <= 100 })
    #expect(text.contains("weaker       opening exclusively is refused"))
  }

  @Test func `lines for people break at words under their column`() throws {
    let text = DirectorySurvey().text(
      DirectoryFacts(
        directory: "/srv/a b c d e f g h i j k l m n o p", ground: Self.gluster, unusedCount: nil,
        clock: []),
      at: Timestamp(seconds: 0), style: TextStyle(usesEscapes: false), width: 40)
    let lines = text.split(separator: "\n")
    #expect(lines[0].hasSuffix("/srv/a b c d e f g h i j k l m n o p"))
    #expect(lines.dropFirst().allSatisfy { $0.count <= 40 })
    #expect(lines.count { $0.hasPrefix("             ") } >= 3)
  }

  @Test func `what the file system gives is told as well`() throws {
    let given = Self.ceph.lines.filter { $0.0 == "gives" }.map(\.1)
    #expect(
      given == [
        "a look shows every change, and waits for it if it must",
        "locks on files exclude other machines", "a read by another program is no use",
        "stamps are nanoseconds and end in 2106",
      ])
    let members = Dictionary(
      uniqueKeysWithValues: Self.ceph.jsonMembers.map { ($0.name, $0.value) })
    guard case .object(let words)? = members["gives"] else {
      Issue.record("no object")
      return
    }
    #expect(words.map(\.name) == ["coherence", "locks", "access", "stamps"])
    #expect(!Self.local.lines.contains { $0.0 == "gives" })
  }

  @Test func `why says them in one sentence`() throws {
    let sentence = try #require(Self.sshfs.sentence)
    #expect(sentence.hasPrefix("sshfs (fuse.sshfs) gives this: a change shows on other machines"))
    #expect(sentence.contains(". On sshfs (fuse.sshfs) some promises are weaker: what other mach"))
    #expect(sentence.hasSuffix("neither content nor key is checked, no extended data is held."))
  }

  @Test func `a name from the table of mounts commands no terminal`() {
    let ground = Self.ground("fuse.\u{1b}[31m", isNetwork: true)
    #expect(ground.lines[0].1.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }
}

import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

@Suite(.enabled("no attributes under the temporary folder") { FileSystemFeatures.hasAttributes })
struct `Taking entries over into a fixture` {
  private let scene: TemporaryDirectory
  private let path: String
  private let source: String

  init() throws {
    scene = try TemporaryDirectory()
    (path, source) = (scene.path + "/fixture", scene.path + "/cache")
  }
}

extension `Taking entries over into a fixture` {
  private func name(_ key: String) -> EntryName { EntryName(CacheKey(key)) }

  private func store(_ keys: String...) throws {
    let cache = try DiskCache(directory: source)
    for key in keys { try cache.store(Array("value of \(key)".utf8), forKey: key) }
    try cache.close()
  }

  private func record(_ key: String, _ value: String) throws {
    try FixtureDirectory(path, makesDirectory: true).record(
      .init(Array(value.utf8), expiration: .days(1)), forKey: CacheKey(key),
      at: FixtureDirectory.start)
  }

  private func fixture() throws -> FixtureDirectory {
    try FixtureDirectory(path, makesDirectory: true)
  }

  /// Changes files of the cache so that a read refuses all but `sound`.
  private func spoil() throws {
    let handle = try DirectoryHandle.open(path: source, faults: nil)
    try handle.openForReading(name("version").fileName).setAttribute(
      .entry, to: Array("2 something".utf8))
    try handle.openForReading(name("malformed").fileName).setAttribute(
      .entry, to: Array("nothing".utf8))
    try Shell.run(
      """
      printf x >> \(name("damaged")); : > \(name("cut")); truncate -s 1T \(name("sparse"))
      mv \(name("other")) \(name("renamed")); touch -m -d '+7 days' *
      """, in: source)
  }

  @Test func `keeps what touch has ended, as a value that was valid once`() throws {
    let cache = try DiskCache(directory: source)
    try cache.store([1], forKey: "k", expiration: .date(Timestamp(seconds: 4_000_000_000)))
    try cache.close()
    try Shell.run("touch \(name("k"))", in: source)
    try fixture().pack(from: source)
    let line = try #require(try fixture().manifest().candidates(for: name("k")).first)
    #expect(line.isKept && line.expiry < line.lastAccess)
  }

  @Test func `makes no value of one that was not to be kept`() async throws {
    let fixture = try LarderFixtures.Fixture(path, isRecording: true)
    let cache = try Cache(fixture: fixture, coder: .string)
    _ = try await cache.value(forKey: "k") { _ in .notKept("value") }
    _ = try await cache.value(forKey: "l") { "value" }
    try await cache.close()
    let unpacked = scene.path + "/unpacked"
    #expect(try FixtureDirectory(path).unpack(into: unpacked).refusals.isEmpty)
    #expect(try Shell.run("ls", in: unpacked).contains("\(name("l"))"))
    #expect(try !Shell.run("ls", in: unpacked).contains("\(name("k"))"))
  }

  @Test func `leaves out what a read refuses, and gives it no fresh hash`() throws {
    try store("sound", "damaged", "cut", "version", "malformed", "sparse", "other")
    try spoil()
    let transfer = try fixture().pack(from: source)
    #expect(transfer.names == [name("sound")])
    let reasons = Dictionary(
      uniqueKeysWithValues: transfer.refusals.map { ($0.name, $0.reason) })
    #expect(
      reasons == [
        name("damaged"): .damaged, name("cut"): .damaged, name("version"): .otherVersion,
        name("malformed"): .damaged, name("sparse"): .oversized, name("renamed"): .otherKey,
      ])
    #expect(try fixture().check().findings.isEmpty)
    #expect(try Shell.run("ls -A | grep -c larder || true", in: path) == "0\n")
    // Unpacking refuses the same files.
    let cache = try FixtureDirectory(source).unpack(into: scene.path + "/second")
    #expect(cache.names == [name("sound")] && cache.refusals == transfer.refusals)
  }

  @Test(.enabled("takes another user to plant a file") { ProcessIdentity.user == 0 })
  func `leaves out what another owner planted`() throws {
    try store("planted")
    try Shell.run("chown 12345 \(name("planted"))", in: source)
    #expect(try fixture().pack(from: source).refusals.map(\.reason) == [.otherOwner])
  }

  @Test func `keeps the line of an entry that was edited or read in place`() throws {
    let long = String(repeating: "k", count: 3000)
    for key in ["edited", "read", long] { try record(key, "value") }
    let before = try fixture().manifest().lines
    try Shell.run(
      "printf new > \(name("edited")); touch -a -d 2100-01-01 \(name("read")) \(name(long))",
      in: path)
    #expect(try fixture().pack(from: path).refusals.isEmpty)
    let after = try fixture().manifest().lines
    var edited = try #require(before[name("edited")]?.first)
    edited.contentHash = XXH64(Array("new".utf8).span).finalize()
    #expect(after[name("edited")] == [edited])
    #expect(after[name("read")] == before[name("read")])
    #expect(after[name(long)] == before[name(long)])
    #expect(try fixture().check().findings.isEmpty)
  }

  @Test func `keeps the text of a key that a file tells only the digest of`() throws {
    let long = String(repeating: "k", count: 3000)
    try record(long, "old")
    try store(long)
    try fixture().pack(from: source)
    let line = try #require(try fixture().manifest().candidates(for: name(long)).first)
    #expect(line.key == CacheKey(long))
    #expect(line.contentHash == XXH64(Array("value of \(long)".utf8).span).finalize())
  }

  @Test func `begins no clock at a use in the future`() throws {
    try store("k1", "k2")
    try Shell.run("touch -a -d 2100-01-01 \(name("k1"))", in: source)
    let now = Timestamp(seconds: 1_790_000_000)
    try fixture().pack(from: source, at: now)
    #expect(try fixture().manifest().latestAccess == now)
  }

  @Test(.watched)
  func `waits for no cache that works on the directory`() throws {
    try store("k")
    let cache = try DiskCache(directory: source)
    #expect(try FixtureDirectory(source).pack(from: source).names == [name("k")])
    try FixtureDirectory(source).record(
      .init([1], expiration: .never), forKey: "new", at: FixtureDirectory.start)
    #expect(try cache.value(forKey: "new") == [1])
    try cache.close()
  }

  @Test func `is refused where a cache has the directory for itself`() throws {
    var configuration = DiskCache.Configuration()
    configuration.mode = .exclusive
    let cache = try DiskCache(directory: source, configuration: configuration)
    try record("k", "v")
    let attempts: [() throws -> Void] = [
      { _ = try FixtureDirectory(source).pack(from: source) },
      { _ = try FixtureDirectory(path).unpack(into: source) },
      {
        try FixtureDirectory(source).record(
          .init([1], expiration: .never), forKey: "k", at: FixtureDirectory.start)
      },
    ]
    for attempt in attempts {
      let error = #expect(throws: CacheError.self) { try attempt() }
      #expect(error?.code == .locked && error?.path == source)
    }
    try cache.close()
  }

  @Test func `gives up when the manifest stays locked, and says who holds it`() throws {
    try record("k", "v")
    let holder = try DirectoryHandle.open(path: path, faults: nil)
      .openForReading(FixtureManifest.fileName)
    #expect(try holder.tryLock(.exclusive))
    var directory = try fixture()
    directory.patience = .zero
    let error = #expect(throws: CacheError.self) { try directory.pack(from: path) }
    #expect(error?.code == .locked && error?.description.contains("/manifest") == true)
    #expect(error?.description.contains("held by process \(ProcessIdentity.pid)") == true)
    try holder.unlock()
    #expect(try directory.pack(from: path).names == [name("k")])
  }

  @Test func `locks a manifest that is open for writing, because NFS refuses it otherwise`() throws
  {
    try record("k", "v")
    let faults = FaultInjector()
    faults.simulate(FileSystemKind(name: "nfs", isNetwork: true))
    let count = Counter()
    faults.plan(
      .before {
        for _ in OpenResources.readOnlyDescriptors(of: path + "/manifest") { count.add() }
      }, for: .flock, onwards: true)
    let directory = try FixtureDirectory(path, faults: faults)
    #expect(try directory.pack(from: path).names == [name("k")])
    #expect(count.value == 0 && faults.count(of: .flock) > 0)
  }

  @Test func `leaves no lock with a child that was forked during a write`() throws {
    let faults = FaultInjector()
    let copies = Shared<[Int32]>([])
    // A child has what a copy of a descriptor has: the open file and its lock.
    let fork = FaultInjector.Fault.before {
      let open = OpenResources.descriptors(of: path + "/.larder-").compactMap { Int32($0) }
      copies.change { $0 += open.map { dup($0) } }
    }
    faults.plan(fork, for: .renameat, onwards: true)
    try FixtureDirectory(path, makesDirectory: true, faults: faults).record(
      .init([1], expiration: .days(1)), forKey: "k", at: FixtureDirectory.start)
    let own = copies.value
    defer { for descriptor in own { close(descriptor) } }
    #expect(!own.isEmpty)
    var directory = try fixture()
    directory.patience = .zero
    #expect(try directory.pack(from: path).names == [name("k")])
  }

  @Test func `locks its temporaries, so that no cleaning takes them away`() throws {
    let directory = try fixture()
    let file = try directory.stage(permissions: 0o600)
    let names = try Shell.run("ls -A", in: path).split(separator: "\n")
    let temporary = try #require(names.first { $0.hasPrefix(".larder-") })
    var fileName = FileName()
    fileName.append(String(temporary))
    let other = try directory.handle.openForReading(fileName)
    #expect(try !other.tryLock(.exclusive))
    #expect(try file.descriptor.status().linkCount == 1)
  }

  @Test func `takes an entry that goes after its name was read for none`() throws {
    try store("k")
    let handle = try DirectoryHandle.open(path: source, faults: nil)
    let source = FixtureSource(handle, FixtureManifest(), at: FixtureDirectory.start)
    guard case .gone = try source.open(name("gone")) else {
      Issue.record("an entry that is not there")
      return
    }
    guard case .file = try source.open(name("k")) else {
      Issue.record("an entry that is there")
      return
    }
  }

  @Test(arguments: [true, false])
  func `keeps the line of two that tells of the content`(isFirst: Bool) throws {
    try record("k", "ours")
    let ours = try fixture().manifest().text
    try record("k", "theirs")
    let theirs = try fixture().manifest().text
    let merged = isFirst ? theirs + ours : ours + theirs
    try Data(merged.utf8).write(to: URL(filePath: path + "/manifest"))
    #expect(try fixture().check().findings.map(\.kind).contains(.doubled))
    #expect(try LarderFixtures.Fixture(path, isRecording: false).copy().names == [name("k")])
    try fixture().pack(from: path)
    #expect(try fixture().manifest().text == theirs)
    #expect(try fixture().check().findings.isEmpty)
    try Data(merged.utf8).write(to: URL(filePath: path + "/manifest"))
    try record("k", "ours")
    #expect(try fixture().manifest().text == ours)
  }

  @Test func `keeps both of two lines that tell of the content`() throws {
    var recording = FixtureDirectory.Recording([1], expiration: .days(1))
    func record(_ data: [UInt8]) throws -> String {
      recording.extendedData = data
      try fixture().record(recording, forKey: "k", at: FixtureDirectory.start)
      return try fixture().manifest().text
    }
    let merged = [try record([1]), try record([2])].sorted().joined()
    try Data(merged.utf8).write(to: URL(filePath: path + "/manifest"))
    #expect(try fixture().pack(from: path).names.isEmpty)
    #expect(try fixture().manifest().text == merged)
    #expect(try fixture().check().findings.map(\.kind) == [.doubled])
    let other = try FixtureDirectory(scene.path + "/other", makesDirectory: true)
    #expect(try other.pack(from: path).names.isEmpty)
    #expect(try other.names().isEmpty && other.manifest().lines.isEmpty)
    _ = try record([2])
    #expect(try fixture().check().findings.isEmpty)
  }

  @Test func `takes an empty value beside an empty manifest, and no rest of a store`() throws {
    let empty = name("k")
    try Shell.run("mkdir fixture cache; : > cache/\(empty); : > fixture/\(empty)", in: scene.path)
    #expect(try FixtureDirectory(source).pack(from: source).refusals.map(\.reason) == [.damaged])
    try Shell.run("rm cache/manifest; : > fixture/manifest", in: scene.path)
    #expect(try FixtureDirectory(source).unpack(into: scene.path + "/b").names.isEmpty)
    #expect(try fixture().unpack(into: scene.path + "/c").names == [empty])
    #expect(try fixture().pack(from: path).names == [empty])
    #expect(try fixture().check().findings.isEmpty)
  }

  @Test func `writes entries for the manifest's readers, and a cache's for its owner`() throws {
    try store("packed")
    try record("recorded", "value")
    try fixture().pack(from: source)
    try fixture().unpack(into: scene.path + "/second")
    func modes(_ folder: String) throws -> Set<Substring> {
      Set(try Shell.run("stat -c %a \(folder)", in: scene.path).split(separator: "\n"))
    }
    #expect(try modes("fixture/[0-9a-f]*") == modes("fixture/manifest"))
    #expect(try modes("second/[0-9a-f]*") == ["600"])
  }

  @Test func `keeps the line of a file that what is refused does not replace`() throws {
    try record("damaged", "recorded")
    let lines = try fixture().manifest().lines
    try store("damaged", "sound")
    try Shell.run("printf x >> \(name("damaged")); touch -m -d '+7 days' *", in: source)
    #expect(try fixture().pack(from: source).refusals.map(\.name) == [name("damaged")])
    #expect(try fixture().manifest().lines[name("damaged")] == lines[name("damaged")])
    #expect(try !fixture().check().findings.map(\.kind).contains(.unlisted))
  }

  @Test(arguments: [2, 3])
  func `that ends early leaves no line of another content`(call: Int) throws {
    for key in ["k1", "k2"] { try record(key, "recorded") }
    try store("k1", "k2")
    let faults = FaultInjector()
    faults.plan(.errno(.ioError), for: .renameat, at: call)
    #expect(throws: CacheError.self) {
      try FixtureDirectory(path, faults: faults).pack(from: source)
    }
    #expect(try Set(fixture().check().findings.map(\.kind)) == [.unlisted])
    try fixture().pack(from: source)
    #expect(try fixture().manifest().lines.count == 2)
    #expect(try !fixture().check().findings.map(\.kind).contains(.unlisted))
  }

  @Test func `takes a value that was touched by hand or has expired for one that was kept`()
    async throws
  {
    try store("touched", "late", "valid")
    try Shell.run(
      "touch \(name("touched")); touch -m -d '-1 day' \(name("late")); sleep 0.01", in: source)
    try fixture().pack(from: source)
    #expect(try fixture().check().findings.map(\.kind) == [.expired, .expired])
    let cache = try Cache(fixture: path, coder: .string)
    for key in ["touched", "late"] {
      let found = try await cache.read(forKey: key, allowingExpired: true)
      #expect(found?.value == "value of \(key)")
      let miss = await #expect(throws: FixtureMiss.self) {
        _ = try await cache.value(forKey: key) { "loaded" }
      }
      #expect(miss?.description.contains("has expired by its clock") == true)
    }
    #expect(try await cache.value(forKey: "valid") == "value of valid")
    try await cache.close()
  }

  @Test(arguments: [true, false], [true, false])
  func `keeps what the line of the content kept, of two lines`(
    isFirst: Bool, isKept: Bool
  ) throws {
    func record(_ value: String, isKept: Bool) throws -> String {
      try fixture().record(
        .init(Array(value.utf8), expiration: isKept ? .days(1) : .expired), forKey: "k",
        at: FixtureDirectory.start)
      return try fixture().manifest().text
    }
    let ours = try record("ours", isKept: !isKept)
    let theirs = try record("theirs", isKept: isKept)
    let merged = isFirst ? theirs + ours : ours + theirs
    try Data(merged.utf8).write(to: URL(filePath: path + "/manifest"))
    let cache = try Cache(fixture: path, coder: .string)
    #expect(try cache.value(forKey: "k", options: .allowingExpired) == (isKept ? "theirs" : nil))
    try cache.close()
  }

  @Test func `unpacked in place has the data of its line alone`() throws {
    let directory = try fixture()
    var recording = FixtureDirectory.Recording([1], expiration: .days(1))
    recording.extendedData = Array("old".utf8)
    try directory.record(recording, forKey: "k", at: FixtureDirectory.start)
    // Git brings the manifest of another branch, and leaves the file with the same content.
    let aside = try FixtureDirectory(scene.path + "/aside", makesDirectory: true)
    recording.extendedData = []
    try aside.record(recording, forKey: "k", at: FixtureDirectory.start)
    try Shell.run("cp aside/manifest fixture/manifest", in: scene.path)
    #expect(try directory.unpack(into: path).names == [name("k")])
    var configuration = DiskCache.Configuration()
    configuration.clock = ManualClock(FixtureDirectory.start).wallClock
    let cache = try DiskCache(directory: path, configuration: configuration)
    let found = try cache.read(forKey: "k")
    #expect(found?.value == [1] && found?.extendedData == [])
    try cache.close()
  }

  @Test(arguments: ["ln -s /etc/passwd manifest", "mkfifo manifest", "mkdir manifest"])
  func `takes nothing but a file for a manifest`(command: String) throws {
    try Shell.run("mkdir -p fixture; cd fixture; \(command)", in: scene.path)
    let attempts: [() throws -> Void] = [
      { _ = try fixture().check() }, { _ = try fixture().pack(from: path) },
    ]
    for attempt in attempts {
      let error = #expect(throws: CacheError.self) { try attempt() }
      #expect(error?.code == .invalidArgument && error?.path == path + "/manifest")
    }
    #expect(try Shell.run("ls -A", in: path) == "manifest\n")
  }
}

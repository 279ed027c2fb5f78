import Foundation
import Glibc
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `The life of a cache` {}

extension `The life of a cache` {
  @Test func `any use after closing is an error, and closing again is not`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try cache.close()
    try cache.close()
    #expect(DiskUses.codes(cache).allSatisfy { $0 == .closed })
    #expect(cache.statistics.stores == 1)
    #expect(try scene.open().value(forKey: "k") == [1])
  }

  @Test func `a closed cache that is still referred to holds no descriptor`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      for mode in [DiskCache.Mode.shared, .exclusive, .readOnly] {
        let cache = try scene.open { $0.mode = mode }
        if mode != .readOnly { try cache.store([1], forKey: "k") }
        #expect(OpenResources.descriptors(of: scene.directory.path).count == 2)
        try cache.close()
        #expect(OpenResources.descriptors(of: scene.directory.path).isEmpty)
        #expect(DiskUses.codes(cache).allSatisfy { $0 == .closed })
        #expect(cache.directory == scene.path)
        withExtendedLifetime(cache) {}
      }
    }
  }

  @Test func `a read or a store that is overtaken by the closing is an error`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try cache.close()
    // As threads that had checked before.
    let subject = cache.subject(CacheKey("k"))
    let errors = [
      #expect(throws: CacheError.self) {
        _ = try cache.read(subject, for: .value, extending: .off)?.bytes
      },
      #expect(throws: CacheError.self) {
        try cache.store([UInt8](repeating: 2, count: 1).span, cache.request("k", nil, []))
      },
    ]
    #expect(errors.map { $0?.code } == [.closed, .closed])
    #expect(try scene.open().value(forKey: "k") == [1])
  }

  @Test func `a directory that cannot be locked for now holds up no other directory`() throws {
    let (slow, other) = (try DiskScene(), try DiskScene())
    let gate = Gate()
    slow.faults.plan(.before { gate.pass() }, for: .flock)
    let opened = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try slow.open().close() } catch { Issue.record(error) }
      opened.signal()
    }
    gate.waitUntilReached()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try other.open().close() } catch { Issue.record(error) }
      done.signal()
    }
    done.wait(for: "another directory")
    gate.open()
    opened.wait(for: "the directory that was held up")
  }

  @Test func `an opener waits while another locks the directory, and then shares the engine`()
    throws
  {
    let scene = try DiskScene()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .flock)
    let caches = Shared<[DiskCache]>([])
    let opened = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do {
        let cache = try scene.open { $0.mode = .exclusive }
        caches.change { $0.append(cache) }
      } catch { Issue.record(error) }
      opened.signal()
    }
    gate.waitUntilReached()
    gate.expectToHold {
      let cache = try scene.open { $0.mode = .exclusive }
      caches.change { $0.append(cache) }
    }
    opened.wait(for: "the first opener")
    let engines = caches.value.map(\.engine)
    #expect(engines.count == 2 && engines.first === engines.last)
    for cache in caches.value { try cache.close() }
  }

  @Test func `an opener that waited tries for itself when the other has failed`() throws {
    let scene = try DiskScene()
    try scene.open().close()
    let holder = try DirectoryHandle.open(path: scene.path, faults: nil)
    #expect(try holder.descriptor.tryLock(.exclusive))
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .flock)
    let failed = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try scene.open().close() } catch { failed.signal() }
    }
    gate.waitUntilReached()
    gate.expectToHold {
      let error = #expect(throws: CacheError.self) { try scene.open() }
      #expect(error?.code == .locked)
    }
    failed.wait(for: "the failure of the first opener")
  }

  @Test func `closing one object leaves the others`() throws {
    let scene = try DiskScene()
    let (first, second) = (try scene.open(), try scene.open())
    try first.close()
    #expect(DiskUses.codes(second).allSatisfy { $0 == nil })
    #expect(DiskUses.codes(first).allSatisfy { $0 == .closed })
    try second.close()
  }

  @Test func `closing writes the pending uses`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    scene.clock.advance(by: .seconds(100))
    _ = try cache.value(forKey: "k")
    try cache.close()
    #expect(try scene.status(scene.name("k")).lastAccess == scene.clock.now)
  }

  @Test func `many caches that end at once with work left all end`() throws {
    var scenes: [DiskScene] = []
    for _ in 0..<12 {
      let scene = try DiskScene()
      scenes.append(scene)
      let cache = try scene.open { $0.sizeLimit = 1000 }
      for number in 0..<20 {
        try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
      }
    }
    let scene = try DiskScene()
    let cache = try scene.open()
    #expect(try cache.count() == 0)
    try cache.close()
  }

  @Test func `a program that the host starts inherits no descriptor`() throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.sizeLimit = 1000 }
    try cache.store([1], forKey: "k")
    _ = try cache.count()
    // While a file is read, another is written, and the directory is held.
    let inherited = try cache.withFile(forKey: "k") { _ in
      var lines = ""
      try cache.store(forKey: "l") { stream in
        try stream.write([1])
        lines = Self.output(of: "ls -l /proc/self/fd")
      }
      return lines
    }
    let lines = try #require(inherited)
    #expect(lines.contains("->"))
    #expect(!lines.contains(scene.directory.path), "\(lines)")
    #expect(!lines.contains("inotify"), "\(lines)")
  }

  /// Returns the output of a command that is started by fork and exec. It inherits all descriptors
  /// that are not marked close-on-exec.
  private static func output(of command: String) -> String {
    guard let pipe = unsafe popen(command, "r") else { return "" }
    var bytes: [UInt8] = []
    while true {
      let byte = unsafe fgetc(pipe)
      if byte < 0 { break }
      bytes.append(UInt8(truncatingIfNeeded: byte))
    }
    unsafe pclose(pipe)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `what cannot be a cache's directory is a clear error`() throws {
    let scene = try DiskScene()
    let file = scene.directory.path + "/file"
    try Data([1]).write(to: URL(fileURLWithPath: file))
    let dangling = scene.directory.path + "/dangling"
    try FileManager.default.createSymbolicLink(
      atPath: dangling, withDestinationPath: scene.directory.path + "/nowhere")
    let cases: [(String, CacheError.Code)] = [
      (dangling + "/below", .directoryMissing), (dangling, .directoryMissing),
      ("", .invalidArgument), ("a\u{0}b", .invalidArgument), (file, .notADirectory),
      (file + "/below", .notADirectory),
      (scene.directory.path + "/" + String(repeating: "n", count: 256), .io),
    ]
    for (path, code) in cases {
      let error = #expect(throws: CacheError.self) { try DiskCache(directory: path) }
      #expect(error?.code == code, "\(path.prefix(40))")
    }
  }

  @Test(arguments: [SystemCall.mkdirat, .fcntl])
  func `what the system does not permit is not called an unsafe directory`(
    call: SystemCall
  ) throws {
    let scene = try DiskScene()
    scene.faults.plan(.errno(.notPermitted), for: call, onwards: true)
    let error = #expect(throws: CacheError.self) { try scene.open { $0.sharesWithGroup = true } }
    #expect(error?.code == .permissionDenied && error?.errno == .notPermitted)
  }

  @Test(arguments: [Errno.permissionDenied, .readOnlyFileSystem])
  func `a directory that exists is opened where none may be made`(errno: Errno) throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    // As NFS answers below a parent that the caller may not write.
    scene.faults.plan(.errno(errno), for: .mkdirat, onwards: true)
    let cache = try scene.open()
    #expect(try cache.store([1], forKey: "k") == .stored)
    try cache.close()
  }

  @Test(arguments: [DiskCache.Coherence.events, .strict, .none])
  func `a directory may lie deeper than the longest path, if a shorter path leads to it`(
    coherence: DiskCache.Coherence
  ) throws {
    let directory = try TemporaryDirectory()
    let name = String(repeating: "d", count: 250)
    var handles = [try DirectoryHandle.open(path: directory.path, faults: nil)]
    for _ in 0..<18 {
      let parent = handles[handles.count - 1]
      try DirectoryHandle.make(name, below: parent, permissions: 0o700, faults: nil)
      handles.append(try parent.openDirectory(name))
    }
    // Removed from the bottom up, because a removal by paths cannot reach them.
    defer {
      for handle in handles.dropLast().reversed() {
        #expect(unsafe unlinkat(handle.descriptor.rawValue, name, AT_REMOVEDIR) == 0)
      }
    }
    let link = directory.path + "/link"
    try FileManager.default.createSymbolicLink(
      atPath: link,
      withDestinationPath: [String](repeating: name, count: 14).joined(separator: "/"))
    let path = ([link] + [String](repeating: name, count: 4) + ["cache"]).joined(separator: "/")
    defer {
      do {
        try FileManager.default.removeItem(atPath: path)
      } catch {
        Issue.record(error)
      }
    }
    var configuration = DiskCache.Configuration()
    configuration.coherence = coherence
    let cache = try DiskCache(directory: path, configuration: configuration)
    #expect(try cache.store([1], forKey: "k") == .stored)
    #expect(FileManager.default.contents(atPath: cache.path(forKey: "k")) == Data([1]))
    try FileManager.default.removeItem(atPath: path)
    #expect(try cache.store([2], forKey: "k") == .stored)
    #expect(try cache.value(forKey: "k") == [2] && cache.count() == 1)
    try cache.close()
  }

  @Test func `a relative path below more than the longest path stands after a change of directory`()
    async
  {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let name = String(repeating: "d", count: 250)
      var handles = [try DirectoryHandle.open(path: directory.path, faults: nil)]
      for _ in 0..<18 {
        let parent = handles[handles.count - 1]
        try DirectoryHandle.make(name, below: parent, permissions: 0o700, faults: nil)
        handles.append(try parent.openDirectory(name))
      }
      defer {
        for handle in handles.dropLast().reversed() {
          #expect(unsafe unlinkat(handle.descriptor.rawValue, name, AT_REMOVEDIR) == 0)
        }
      }
      let bottom = handles[handles.count - 1].descriptor.rawValue
      #expect(fchdir(bottom) == 0)
      let cache = try DiskCache(directory: "cache")
      #expect(unsafe chdir(directory.path) == 0)
      // The same text names another directory now.
      let other = try DiskCache(directory: "cache")
      #expect(cache.directory == "cache" && other.directory == directory.path + "/cache")
      #expect(try cache.store([1], forKey: "k") == .stored)
      #expect(try other.value(forKey: "k") == nil && other.store([2], forKey: "k") == .stored)
      #expect(try cache.value(forKey: "k") == [1] && cache.entries().count == 1)
      try cache.flush()
      #expect(try cache.removeAll().removed == 1)
      #expect(try other.count() == 1)
      for cache in [cache, other] { try cache.close() }
      #expect(unsafe unlinkat(bottom, "cache/CACHEDIR.TAG", 0) == 0)
      #expect(unsafe unlinkat(bottom, "cache", AT_REMOVEDIR) == 0)
    }
  }

  @Test(arguments: [(0o700, true), (0o755, true), (0o777, false), (0o1777, false), (0o702, false)])
  func `a directory that others can write to is refused unless allowed`(
    mode: Int, isTaken: Bool
  ) throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: scene.path)
    if isTaken {
      try scene.open().close()
    } else {
      let error = #expect(throws: CacheError.self) { try scene.open() }
      #expect(error?.code == .unsafeDirectory)
      let reader = try scene.open { $0.mode = .readOnly }
      #expect(reader.statistics.isDirectoryUnsafe)
    }
    let cache = try scene.open { $0.allowsUnsafeDirectory = true }
    #expect(cache.statistics.isDirectoryUnsafe == !isTaken)
    #expect(try cache.store([1], forKey: "k") == .stored)
  }

  @Test func `caches that are opened and closed asynchronously share a few threads`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let first = OpenResources.threads.count
      for _ in 0..<200 {
        let cache = try scene.open()
        try await cache.store([1], forKey: "k")
        try await cache.close()
      }
      #expect(OpenResources.threads.count < first + 20)
    }
  }

  @Test func `nothing is evicted after the end, whoever had decided to before it`() throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.sizeLimit = 1000 }
    try cache.store([1], forKey: "k", expiration: .seconds(1))
    #expect(try cache.count() == 1)
    try cache.close()
    scene.clock.advance(by: .seconds(2))
    #expect(throws: CacheError.self) {
      try cache.engine.trim("trim") { TrimPlan(now: $0, protected: nil) }
    }
    cache.engine.sweep()
    #expect(!cache.engine.makeRoom(for: 1, since: cache.engine.withState { $0.fullDisk.count }))
    #expect(try scene.names.count == 1)
  }
}

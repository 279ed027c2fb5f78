import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// A use of a cache, and the code of the caller's that runs in it.
///
/// The cache has a value for the key `k`, in both tiers.
struct CallerOperation: Sendable, CustomTestStringConvertible {
  typealias Run = @Sendable (Cache<CallerPage>, Caller) async throws -> Void

  let name: String
  let codes: Set<CallersCode>
  let run: Run
  var testDescription: String { name }

  init(_ name: String, _ codes: Set<CallersCode>, _ run: @escaping Run) {
    (self.name, self.codes, self.run) = (name, codes, run)
  }

  /// The code that runs in any change, in any store, and in any load.
  private static let changing: Set<CallersCode> = [.clock, .deinitialiser, .key]
  private static let storing = changing.union([.encoder, .hook])
  private static let loading = changing.union([.closure, .captureDeinitialiser])

  static let all = stores + removals + reads + loads + fileLoads + others

  private static let stores = [
    Self("store", storing) { try await $0.store($1.page([2]), forKey: $1.key) },
    Self("store without expiry", storing) {
      try await $0.store($1.page([2]), forKey: $1.key, expiration: .never)
    },
    Self("a store that is rejected", changing.union([.encoder])) {
      try await $0.store($1.page([]), forKey: $1.key, expiration: .expired)
    },
    Self("a store that the hook declines", storing) {
      try await $0.store($1.page([]), forKey: $1.key)
    },
    Self("a store that fails", changing.union([.encoder])) { cache, caller in
      await #expect(throws: CacheError.self) {
        try await cache.store(caller.page([255]), forKey: caller.key)
      }
    },
    Self("stores of other keys, which evict this one", [.clock, .encoder, .hook, .deinitialiser]) {
      cache, caller in
      for number in 0..<4 { try await cache.store(caller.page([2]), forKey: "other \(number)") }
    },
    Self("stores of several", storing) { cache, caller in
      await cache.store(contentsOf: [(caller.key, caller.page([2]))])
    },
    Self("store in pieces", loading.union([.hook])) { cache, caller in
      let closure = caller.closure()
      try await cache.store(forKey: caller.key) { (stream: inout EntryStream) in
        try stream.write([3])
        closure()
      }
    },
    Self("store in pieces, while the caller waits", changing.union([.hook, .closure])) {
      try $0.storePieces($1)
    },
    Self("store in pieces, asynchronously", changing.union([.hook, .closure])) { cache, caller in
      try await cache.store(forKey: caller.key) { writer in
        try await writer.write([3])
        caller.run(.closure)
      }
    },
    Self("storeIfAbsent", [.clock, .key, .hook]) {
      try await $0.disk.storeIfAbsent([3], forKey: $1.key)
    },
    Self("store on the disk tier", changing.union([.hook])) {
      try await $0.disk.store([3], forKey: $1.key)
    },
    Self("store through another object", storing) { cache, caller in
      let other = try cache.another()
      try await other.store(caller.page([2]), forKey: caller.key)
      try await other.close()
    },
    Self("touch", changing) { try await $0.touch(forKey: $1.key, expiration: .seconds(9)) },
  ]

  private static let removals = [
    Self("remove", changing) { try await $0.remove(forKey: $1.key) },
    Self("removeValue", changing.union([.decoder])) {
      _ = try await $0.removeValue(forKey: $1.key)
    },
    Self("removeAll", [.deinitialiser]) { cache, _ in try await cache.removeAll() },
    Self("removeAllInBackground", [.deinitialiser]) { cache, _ in
      _ = try await cache.removeAllInBackground().wait()
    },
    Self("removeAll(where:)", [.clock, .closure, .captureDeinitialiser, .deinitialiser]) {
      cache, caller in
      let closure = caller.closure()
      _ = try await cache.removeAll { _ in
        closure()
        return true
      }
    },
    Self("removeAll(where:), while the caller waits", [.clock, .closure, .deinitialiser]) {
      try $0.removeChosen($1)
    },
    Self("removeVariants", changing) { _ = try await $0.removeVariants(of: $1.key) },
    Self("removeExpired", [.clock, .encoder, .hook, .deinitialiser]) { cache, caller in
      try await cache.store(caller.page([2]), forKey: "k", expiration: .seconds(1))
      caller.clock.advance(by: .seconds(1000))
      try await cache.removeExpired()
    },
    Self("trim", [.clock, .deinitialiser]) { cache, _ in try await cache.disk.trim(toCount: 0) },
    Self("a lowered limit of memory", [.clock, .deinitialiser]) { cache, _ in
      cache.memory.countLimit = 0
    },
    Self("a removal of all from memory", [.deinitialiser]) { cache, _ in cache.memory.removeAll() },
    Self("a sequence of removals that is not taken", [.clock, .encoder, .hook, .deinitialiser]) {
      cache, caller in
      let removals = cache.memory.removals(bufferingNewest: 1)
      for number in 0..<4 { try await cache.store(caller.page([2]), forKey: "other \(number)") }
      withExtendedLifetime(removals) {}
    },
    Self("a sequence of removals", [.clock, .encoder, .hook, .deinitialiser]) { cache, caller in
      var removals = cache.memory.removals().makeAsyncIterator()
      try await cache.store(caller.page([2]), forKey: "k")
      _ = await removals.next()
    },
    Self("a neighbour's change of the file", [.deinitialiser]) { cache, _ in
      cache.disk.engine.tell(.filesChanged([cache.disk.subject("k").name]))
    },
    Self("another directory at the path", [.deinitialiser]) { cache, _ in
      cache.disk.engine.tellOfAnyChange()
    },
  ]

  private static let reads = [
    Self("value", [.clock, .key]) { _ = try await $0.value(forKey: $1.key) },
    Self("value from disk", changing.union([.decoder])) { cache, caller in
      cache.memory.removeAll()
      _ = try await cache.value(forKey: caller.key)
    },
    Self("values of several", changing.union([.decoder])) { cache, caller in
      cache.memory.removeAll()
      _ = await cache.values(forKeys: [caller.key])
    },
    Self("read", changing.union([.decoder])) { _ = try await $0.read(forKey: $1.key) },
    Self("entry", [.clock, .key]) { _ = try await $0.disk.entry(forKey: $1.key) },
    Self("tier", [.clock, .key]) { _ = try await $0.tier(forKey: $1.key) },
    Self("withFile", [.clock, .key, .closure, .captureDeinitialiser]) { cache, caller in
      let closure = caller.closure()
      _ = try await cache.withFile(forKey: caller.key) { _ in closure() }
    },
    Self("withFile, while the caller waits", [.clock, .key, .closure]) { try $0.readFile($1) },
    Self("withFile, asynchronously", [.clock, .key, .closure]) { cache, caller in
      _ = try await cache.withFile(forKey: caller.key) { (file: EntryFileReader) in
        _ = try await file.read()
        caller.run(.closure)
      }
    },
  ]

  private static let others = [
    Self("verify", [.closure, .captureDeinitialiser]) { cache, caller in
      let closure = caller.closure()
      _ = try await cache.disk.verify { _, _ in closure() }
    },
    Self("verify, while the caller waits", [.closure]) { try $0.verify($1) },
    Self("flush", []) { cache, _ in try await cache.flush() },
    Self("close", [.deinitialiser]) { cache, _ in try await cache.close() },
  ]
}

extension CallerOperation {
  private static let loads = [
    Self("a load", storing.union([.closure, .captureDeinitialiser])) { cache, caller in
      try await cache.remove(forKey: "k")
      let closure = caller.closure()
      _ = try await cache.value(forKey: caller.key) {
        closure()
        return caller.page([4])
      }
    },
    Self("a forced load", storing.union([.decoder, .closure, .captureDeinitialiser])) {
      cache, caller in
      try await cache.load(caller, .reload) { .value(caller.page([4])) }
    },
    Self("a load that renews", loading.union([.decoder])) { cache, caller in
      // It throws if the code has removed the value before.
      try? await cache.load(caller, .reload) { .notModified() }
    },
    Self("a load that keeps nothing", loading.union([.decoder])) { cache, caller in
      try await cache.load(caller, .reload) { .notKept(caller.page([4])) }
    },
    Self("a load into memory alone", loading.union([.encoder])) { cache, caller in
      try await cache.load(caller, [.reload, .memoryOnly]) { .value(caller.page([4])) }
    },
    Self("a load in the background", storing.union([.decoder, .closure, .captureDeinitialiser])) {
      cache, caller in
      try await cache.touch(forKey: "k", expiration: .expired)
      try await cache.load(caller, .staleWhileRevalidating(.seconds(60))) {
        .value(caller.page([4]))
      }
    },
    Self(
      "a load that fails where an expired value is served",
      loading.union([.decoder, .errorDeinitialiser])
    ) { cache, caller in
      // The sweep at the end of the first scan would remove it.
      _ = try await cache.disk.count()
      try await cache.touch(forKey: "k", expiration: .expired)
      // It throws if the code has removed the value, as the clock does that the writer reads.
      try? await cache.load(caller, .staleIfFailing(.seconds(86_400))) {
        throw CallerError(caller)
      }
    },
    Self(
      "a load that fails, and a store after it",
      storing.union([.decoder, .closure, .captureDeinitialiser, .errorDeinitialiser])
    ) { cache, caller in
      try await cache.fail(caller)
      try await cache.store(caller.page([5]), forKey: "k")
    },
    Self("a load that fails, and a removal of all", loading.union([.decoder, .errorDeinitialiser]))
    { cache, caller in
      try await cache.fail(caller)
      try await cache.removeAll()
    },
    Self("a load that fails, and another", loading.union([.decoder, .errorDeinitialiser])) {
      cache, caller in
      try await cache.fail(caller)
      try await cache.fail(caller)
    },
    Self(
      "a load that fails, and one that does not",
      storing.union([.decoder, .closure, .captureDeinitialiser, .errorDeinitialiser])
    ) { cache, caller in
      try await cache.fail(caller)
      try await cache.load(caller, .reload) { .value(caller.page([4])) }
    },
  ]

  private static let fileLoads = [
    Self("a load of a file", loading.union([.hook])) { cache, caller in
      try await cache.remove(forKey: "k")
      let (closure, load) = (caller.closure(), caller.closure())
      // It throws if the code has removed the file whenever it was to be lent.
      try? await cache.withFile(forKey: caller.key) { _ in
        closure()
      } orStore: { writer in
        try await writer.write([4])
        load()
      }
    },
    Self("a load of a file that is read asynchronously", loading.union([.hook])) { cache, caller in
      try await cache.remove(forKey: "k")
      let load = caller.closure()
      _ = try? await cache.withFile(forKey: caller.key) { (file: EntryFileReader) in
        try await file.read()
      } orStore: { writer in
        try await writer.write([4])
        load()
      }
    },
  ]
}

extension Cache<CallerPage> {
  fileprivate func load(
    _ caller: Caller, _ options: LoadOptions,
    _ load: @escaping @Sendable () throws -> Loaded<CallerPage>
  ) async throws {
    let closure = caller.closure()
    _ = try await value(forKey: caller.key, options: options) { _ in
      closure()
      return try load()
    }
  }

  /// Lets a load fail, whose error is kept.
  fileprivate func fail(_ caller: Caller) async throws {
    var options = LoadOptions.reload
    options.failureLifetime = .seconds(60)
    try? await load(caller, options) { throw CallerError(caller) }
  }

  /// Opens another object on the directory.
  fileprivate func another() throws -> Cache {
    try Cache(directory: disk.directory, coder: coder, configuration: configuration)
  }

  // Calls in functions that are not asynchronous, where Swift takes the form that waits.

  fileprivate func storePieces(_ caller: Caller) throws {
    try store(forKey: caller.key) { stream in
      try stream.write([3])
      caller.run(.closure)
    }
  }

  fileprivate func removeChosen(_ caller: Caller) throws {
    try removeAll { _ in
      caller.run(.closure)
      return true
    }
  }

  fileprivate func readFile(_ caller: Caller) throws {
    try withFile(forKey: caller.key) { _ in caller.run(.closure) }
  }

  fileprivate func verify(_ caller: Caller) throws {
    _ = try disk.verify { _, _ in caller.run(.closure) }
  }
}

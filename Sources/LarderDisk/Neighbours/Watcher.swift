import LarderSystem
import Synchronization

/// Follows what happens in an engine's directory: a queue of events, and a thread that reads it.
///
/// The thread sleeps in the kernel until something happens, hands all that has happened to the
/// engine, and then lets a moment pass, so that a burst of a neighbour's stores wakes it a hundred
/// times a second at most. Who cannot wait for it reads the queue himself.
package final class Watcher: Sendable {
  private struct State: Sendable {
    /// The watch on the directory as it is held now.
    var watch: Int32?
    var thread: ThreadIdentity?
    /// The thread that takes events out and acts on them.
    var reader: ThreadIdentity?
    /// A time by the system's clock at which the queue had been read to its end.
    var lastEmpty = WallClock.systemCoarse.now()
    var hasEnded = false
  }

  private let queue: EventQueue
  private let bell: EventDescriptor
  private let state = ForkSafeMutex(State())
  private let changed = EventCount()
  // Raised before the queue is read and lowered when everything read was acted upon. Both it and
  // the look at the queue are system calls or sequentially consistent, so that who finds the queue
  // empty and the flag down has missed nothing that happened before.
  private let isReading = Atomic<Bool>(false)
  private weak let engine: DiskEngine?

  /// How long the thread lets events gather. With what it takes to act on them it stays below the
  /// 50 ms that a memory tier may trail by.
  private static let gatheringMilliseconds: Int32 = 10
  /// 64 KiB hold 1,024 events of entries' names.
  private static let bufferByteCount = 64 << 10

  /// Starts to watch; the thread is not started yet.
  init(_ engine: DiskEngine) throws(Errno) {
    self.engine = engine
    queue = try EventQueue(faults: engine.configuration.faults)
    bell = try EventDescriptor()
    try follow(engine.location)
  }

  /// Watches the directory that is held now, in the place of the one before.
  func follow(_ location: DirectoryLocation) throws(Errno) {
    var handle: DirectoryHandle
    repeat {
      handle = location.handle
      try watch(handle, path: location.path)
      // Another thread may have followed another replacement meanwhile, and this watch taken the
      // place of that one's.
    } while handle !== location.handle
  }

  private func watch(_ handle: DirectoryHandle, path: String) throws(Errno) {
    let fresh = try queue.watch(handle, path: path, for: DirectoryNews.kinds)
    let old = state.withLock { state in
      let old = state.watch
      state.watch = fresh
      return old
    }
    guard let old, old != fresh else { return }
    do throws(Errno) {
      try queue.endWatch(old)
    } catch {
      // It has ended with its directory.
    }
  }

  /// Starts the thread.
  ///
  /// - Throws: `.tryAgain` when there is no thread to be had.
  func start() throws(Errno) {
    try startThread { self.run() }
  }

  /// Makes the thread end and waits for that, unless the caller is that thread.
  func stop() {
    bell.raise()
    while true {
      let ticket = changed.ticket()
      let mustWait = state.withLock { !$0.hasEnded && $0.thread != .current }
      guard mustWait else { return }
      changed.wait(ticket)
    }
  }

  private func run() {
    state.withLock { $0.thread = .current }
    do throws(Errno) {
      while try !queue.wait(or: bell) {
        // The engine is held only while there is something to do, so that its end can begin.
        guard let engine else { break }
        readEvents(for: engine)
        if try bell.wait(milliseconds: Self.gatheringMilliseconds) { break }
      }
    } catch {
      engine?.eventsEnded(because: error)
    }
    state.withLock { $0.hasEnded = true }
    changed.signal()
  }

  /// Whether everything that had happened when this was called is known to the engine; if not, it
  /// is when this returns.
  ///
  /// - Complexity: One system call when nothing has happened.
  func catchUp(_ engine: DiskEngine) throws(Errno) {
    if try queue.isEmpty, !isReading.load(ordering: .sequentiallyConsistent) { return }
    readEvents(for: engine)
  }

  /// Takes the events out and acts on them, one thread at a time, since their order counts.
  private func readEvents(for engine: DiskEngine) {
    guard becomeReader() else { return }
    isReading.store(true, ordering: .sequentiallyConsistent)
    defer {
      isReading.store(false, ordering: .sequentiallyConsistent)
      state.withLock { $0.reader = nil }
      changed.signal()
    }
    var buffer = [UInt8](repeating: 0, count: Self.bufferByteCount)
    // Files' change times are of the clock's last tick, as this is.
    let start = state.withLock { $0.lastEmpty }
    var news = DirectoryNews()
    do throws(Errno) {
      // To the end before anything is looked at: most of what has come and gone meanwhile cancels
      // out. Bounded by what the kernel keeps, for neighbours that never rest.
      for _ in 0..<64 {
        // Before the look: what happens between the two is later than this.
        let time = WallClock.systemCoarse.now()
        let events = try queue.read(into: &buffer)
        let watch = state.withLock { state in
          if events.isEmpty { state.lastEmpty = time }
          return state.watch ?? -1
        }
        if events.isEmpty { break }
        for event in events { news.add(event, watch: watch) }
      }
    } catch {
      engine.eventsEnded(because: error)
    }
    if !news.isEmpty { engine.act(on: news, since: start) }
  }

  /// Waits for its turn to read; false in a call from inside of the reading.
  private func becomeReader() -> Bool {
    while true {
      let ticket = changed.ticket()
      let isReader: Bool? = state.withLock { state in
        if state.reader == .current { return false }
        guard state.reader == nil else { return nil }
        state.reader = .current
        return true
      }
      if let isReader { return isReader }
      changed.wait(ticket)
    }
  }
}

/// Whether an engine hears of what happens in its directory.
package final class Watching: Sendable {
  /// How far it has come.
  package enum State: Sendable {
    /// Nobody has needed it.
    case notStarted
    case watching(Watcher)
    /// It could not be had; scans take its place.
    case unavailable
    /// The engine is ending.
    case ended
  }

  let state = ForkSafeMutex(State.notStarted)
  /// Whether an object on the directory wants to hear; the engine outlives it.
  let isWanted = Atomic<Bool>(false)
  /// Whether the start was tried, so that asking costs nothing afterwards.
  let isSettled = Atomic<Bool>(false)
  /// Whether the directory was moved away, and its path has not led to one again since.
  let isAstray = Atomic<Bool>(false)
  /// Whether the system has refused events, after which they may have missed something.
  let hasFailed = Atomic<Bool>(false)
  /// Whether events tell all that others do.
  let isComplete = Atomic<Bool>(false)
}

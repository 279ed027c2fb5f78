#if LARDER_SCHEDULES
  import Synchronization

  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  // What left each tier at rest: what was counted, what was told, and why.
  extension SceneRun {
    /// Checks that what a memory tier has kept and what has not left it is there, and that the
    /// limits are those that were set last.
    func judgeMemory(_ cache: Int) {
      guard case .memory(let front)? = slot(cache) else { return }
      let (statistics, count) = (front.memory.statistics, front.memory.count)
      if statistics.stores - statistics.removals.values.reduce(0, +) != count {
        history.report(
          "the memory of cache \(cache) counts \(statistics.stores) stores and "
            + "\(statistics.removals) removals; \(count) values are there")
      }
      let limits = front.memory.limits.withLock { $0 }
      let settings = front.memory.withStripe(at: 0) { $0.settings }
      var expected = settings
      expected.set(limits.share(ofStripe: 0, of: front.memory.stripeMask + 1))
      if (settings.costLimit, settings.countLimit, settings.ageLimit)
        != (expected.costLimit, expected.countLimit, expected.ageLimit)
      {
        history.report("the memory of cache \(cache) has other limits than were set: \(settings)")
      }
    }

    /// Checks that each value that has left a memory tier was told once, with the cause that was
    /// counted.
    func judgeMemoryRemovals(_ cache: Int) {
      guard case .memory(let front)? = slot(cache), let removals = takeMemoryRemovals(cache) else {
        return
      }
      let told = causes(drained(removals).map(\.cause))
      let counted = front.memory.statistics.removals
      // A sequence may end with its cache before it is told of what another thread takes out then.
      let isFine =
        front.disk.hasClosed ? told.allSatisfy { $1 <= counted[$0, default: 0] } : told == counted
      if !isFine {
        history.report("the memory of cache \(cache) counts \(counted) and tells of \(told)")
      }
    }

    /// Checks that each removal from the disk that a process told of has a cause that the scene
    /// can have, and that it was counted with that cause and told once.
    func judgeRemovals(_ cache: Int) {
      guard let slot = slot(cache), let removals = takeRemovals(cache) else { return }
      let counted = slot.disk.statistics.removals
      let events = drained(removals)
      let told = causes(events.map(\.cause))
      if !hasLooseCounts, told != counted {
        history.report("cache \(cache) counts the removals \(counted) and tells of \(told)")
      }
      guard scene.failures.isEmpty else { return }
      let impossible = Set(events.map(\.cause)).subtracting(possibleCauses(of: cache))
      for cause in RemovalCause.allCases where impossible.contains(cause) {
        history.report("cache \(cache) tells of a removal that nothing explains: \(cause)")
      }
      let counts = events.reduce(into: [String: Int]()) { $0[$1.name, default: 0] += 1 }
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
        let most = fileCount(of: name)
        if count > most {
          history.report(
            "cache \(cache) tells of \(count) removals of \(name), which had \(most) files")
        }
      }
    }

    private func causes(_ all: [RemovalCause]) -> [RemovalCause: Int] {
      all.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// Returns the events that a sequence holds, without a wait for its end.
    private func drained<Event>(_ events: RemovalEvents<Event>) -> [Event] {
      let list = EventList<Event>()
      let task = Task { for await event in events { list.add(event) } }
      Scheduler.sleep(milliseconds: 1)
      task.cancel()
      return list.all
    }

    /// Returns the causes for which a cache's process can remove an entry.
    private func possibleCauses(of cache: Int) -> Set<RemovalCause> {
      let process = scene.caches[cache].process
      let caches = scene.caches.filter { $0.process == process }
      let own = scene.threads.filter { $0.cache.map { scene.caches[$0].process } == process }
        .flatMap(\.operations).map(\.verb)
      let all = scene.threads.flatMap(\.operations)
      let removals: Set<Scene.Verb> = [
        .remove, .take, .variants, .removeAll, .background, .select, .trimCount, .trimSize,
        .trimAge,
      ]
      var possible: Set<RemovalCause> = []
      if own.contains(where: removals.contains) { possible.insert(.explicit) }
      // What is stored again for another round may follow a value that a neighbour has removed.
      let storesAgain = roundCount > 1 && !scene.initial.isEmpty && process == 0
      if storesAgain || own.contains(where: \.bringsValue) { possible.insert(.replaced) }
      let isPassing = all.contains { [.shortStore, .touch, .overwrite].contains($0.verb) }
      if isPassing || scene.stepsBack || caches.contains(where: { $0.options[.age] != nil }) {
        possible.insert(.expired)
      }
      let limits: [Scene.Option] = [.size, .count, .free, .age]
      let hasLimit = caches.contains { cache in limits.contains { cache.options[$0] != nil } }
      // The disk tier takes a call to trim for a limit that is set once.
      let trims: Set<Scene.Verb> = [.trimCount, .trimSize, .trimAge]
      if hasLimit || !trims.isDisjoint(with: own) {
        possible.insert(.evicted)
      }
      // Written into, or under a name that is not its key's.
      if all.contains(where: { [.overwrite, .damage].contains($0.verb) || $0.otherName != nil }) {
        possible.insert(.corrupt)
      }
      return possible
    }

    /// Returns how often a file was put at a name at most, by anybody.
    private func fileCount(of file: String) -> Int {
      let first = scene.caches.first?.options[.ext]
      let before = scene.initial.count { SceneValue.fileName($0, ext: first) == file }
      return history.calls.reduce(before) { count, call in
        guard !call.isLook, call.thread != "before" else { return count }
        let ext = call.cache.flatMap { scene.caches[$0].options[.ext] }
        guard let name = call.operation.otherName ?? call.operation.name,
          SceneValue.fileName(name, ext: ext) == file
        else { return count }
        let puts =
          call.operation.verb.bringsValue || call.operation.verb == .moveIn
          || call.operation.otherName != nil
        return count + (puts ? max(1, call.loadCount) : 0)
      }
    }
  }

  /// What a task has taken out of a sequence so far.
  private final class EventList<Event: Sendable>: Sendable {
    private let events = Synchronization.Mutex<[Event]>([])

    var all: [Event] { events.withLock { $0 } }

    func add(_ event: Event) { events.withLock { $0.append(event) } }
  }
#endif

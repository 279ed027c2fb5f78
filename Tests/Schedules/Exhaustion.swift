#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDigest
  @testable import LarderDisk
  @testable import LarderSystem

  /// A search through all schedules of a scene with at most so many interruptions of threads.
  struct Exhaustion {
    let scene: Scene
    /// The largest number of interruptions. A choice after a thread has to wait does not count.
    let bound: Int
    private(set) var trialCount = 0
    private(set) var failures: [Trial] = []
    private(set) var isComplete = false

    init(_ scene: Scene, bound: Int) {
      self.scene = scene
      self.bound = bound
    }

    /// Explores depth first, until everything is explored or the time is up.
    mutating func explore(isOver: () -> Bool) {
      // Each prefix is a schedule, which continues without interruption.
      var prefixes: [(preemptions: [Strategy.Preemption], count: Int)] = [([], 0)]
      while let prefix = prefixes.popLast() {
        if isOver() { return }
        let trial = Trial(.preemptions(prefix.preemptions), seed: 0, scene)
        Progress.note(trial.text)
        let verdict = trial.run()
        let choices = ChoiceLog.take()
        trialCount += 1
        if verdict.kind != nil {
          failures.append(trial)
          if failures.count >= 3 { return }
          continue
        }
        let start = prefix.preemptions.last.map { $0.choice + 1 } ?? 0
        guard start < choices.count else { continue }
        for index in start..<choices.count {
          let choice = choices[index]
          let count = prefix.count + (choice.current == nil ? 0 : 1)
          if count > bound { continue }
          for thread in 0..<64 where choice.runnable & (1 << UInt64(thread)) != 0 {
            if thread == choice.chosen { continue }
            let next = Strategy.Preemption(choice: index, thread: thread)
            prefixes.append((prefix.preemptions + [next], count))
          }
        }
      }
      isComplete = true
    }
  }
#endif

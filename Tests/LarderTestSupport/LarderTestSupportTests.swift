import Foundation
import Synchronization
import Testing

@Suite(.watched)
struct `What tests wait with` {}

extension `What tests wait with` {
  @Test func `a second counts as less where the piece of work takes longer, and never as more`() {
    func credit(_ took: Duration) -> Duration {
      MachineTime.credit(for: .milliseconds(250), workTook: took)
    }
    #expect(credit(.milliseconds(1)) == .milliseconds(250))
    #expect(credit(.milliseconds(30)) == .milliseconds(250))
    #expect(credit(.milliseconds(300)) == .milliseconds(25))
    #expect(MachineTime.credit(for: .seconds(3600), workTook: .zero) == .seconds(1))
  }

  @Test func `the default limit counts from the last progress of any test, a shorter one does not`()
  {
    func hasPassed(_ limit: Int, at now: Int, progress: Int) -> Bool {
      MachineTime.hasPassed(
        .seconds(limit), since: .seconds(1_000), at: .seconds(now), lastProgress: .seconds(progress)
      )
    }
    #expect(!hasPassed(180, at: 1_179, progress: 0))
    #expect(hasPassed(180, at: 1_180, progress: 0))
    #expect(!hasPassed(180, at: 1_900, progress: 1_800))
    #expect(hasPassed(180, at: 1_980, progress: 1_800))
    #expect(hasPassed(60, at: 1_060, progress: 1_059))
  }

  @Test func `a wait that is in vain is an issue at its line, and ends`() {
    withKnownIssue {
      #expect(DispatchSemaphore(value: 0).wait(for: "a signal", limit: .zero) == false)
    } matching: {
      $0.description.contains("waited in vain for a signal")
    }
    #expect(!Happening().wait(.zero) { false })
    #expect(throws: WaitedInVain.self) { try eventually("never", limit: .zero) { false } }
  }

  @Test func `so it is in a task`() async throws {
    await #expect(throws: WaitedInVain.self) {
      try await eventually("never", limit: .zero) { () async -> Bool in false }
    }
    let isDone = Atomic(false)
    async let other: Void = isDone.store(true, ordering: .relaxed)
    try await eventually("the other task") { () async -> Bool in isDone.load(ordering: .relaxed) }
    await other
  }

  @Test func `a process that does not end is killed with its children`() throws {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "sleep 3600 & wait"]
    process.standardOutput = output
    try process.run()
    try withKnownIssue {
      // The pipe ends when the last process that has it open ends.
      let data = try process.waitPatiently(limit: .zero) {
        try output.fileHandleForReading.readToEnd()
      }
      #expect(data == nil)
    } matching: {
      $0.description.contains("sleep 3600 & wait")
    }
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
  }

  @Test func `a run in which nothing happens ends, and tells who waits for what`() async throws {
    let result = await #expect(
      processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]
    ) {
      await Watchdog.shared.watch("`a test that hangs`") {
        Watchdog.shared.shorten(to: .zero)
        DispatchSemaphore(value: 0).wait(for: "nobody", limit: .seconds(3600))
      }
    }
    let told = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(told.contains("Tests that run:\n  `a test that hangs`, since "))
    #expect(told.contains("Waits:\n  nobody at LarderTestSupportTests.swift:"))
  }
}

@Suite(.watched)
struct `What tests leave behind` {}

extension `What tests leave behind` {
  @Test func `a directory goes with all in it, also without permissions`() throws {
    let path: String
    do {
      let directory = try TemporaryDirectory()
      path = directory.path
      for name in ["a", "a/b", "a/b/c"] {
        try FileManager.default.createDirectory(
          atPath: "\(path)/\(name)", withIntermediateDirectories: false)
      }
      for name in ["a/b", "a"] { #expect(unsafe chmod("\(path)/\(name)", 0) == 0) }
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `the child of an exit test uses its parent's directory, so it may be killed`()
    async throws
  {
    let root = try TemporaryRoot.path()
    await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String] in
      let directory = try TemporaryDirectory()
      #expect(directory.path.hasPrefix("\(root)/"))
      kill(getpid(), SIGKILL)
    }
  }
}

import LarderTestSupport
import Synchronization
import Testing

@testable import LarderSystem

/// The closing of event queues on another thread.
@Suite(.watched)
struct `An event queue's closer` {
  private final class Closings: Sendable {
    private let list = Mutex<[(raw: Int32, thread: ThreadIdentity)]>([])

    func add(_ raw: Int32) { list.withLock { $0.append((raw, .current)) } }
    func thread(of raw: Int32) -> ThreadIdentity? {
      list.withLock { $0.first { $0.raw == raw }?.thread }
    }
  }

  @Test func `lets the caller go on, and closes a few too many on the caller's thread`() {
    let (gate, closings) = (Gate(), Closings())
    let last = Int32(EventQueueCloser.mostWaiting)
    let closer = EventQueueCloser { raw in
      // Only the other thread is held, so that a closing by the caller shows and does not hang.
      if raw == 0 { gate.pass() }
      closings.add(raw)
    }
    for raw in 0..<last { closer.close(raw) }
    gate.waitUntilReached()
    #expect((0..<last).allSatisfy { closings.thread(of: $0) == nil })
    closer.close(last)
    #expect(closings.thread(of: last) == .current)
    gate.open()
    let happening = Happening()
    #expect(happening.wait { closings.thread(of: last - 1) != nil })
    #expect((0..<last).allSatisfy { closings.thread(of: $0) != .current })
    closer.close(last + 1)
    #expect(happening.wait { closings.thread(of: last + 1) != nil })
    #expect(closings.thread(of: last + 1) != .current)
  }

  @Test func `lets a caller that is to be one too many wait for another to be closed`() {
    let (gate, closings) = (Gate(), Closings())
    let last = Int32(EventQueueCloser.mostWaiting)
    let closer = EventQueueCloser { raw in
      if raw == 0 { gate.pass() }
      closings.add(raw)
    }
    for _ in 0..<last { closer.admit() }
    for raw in 0..<last { closer.close(raw, isAdmitted: true) }
    gate.waitUntilReached()
    gate.expectToHold { closer.admit(patience: .seconds(3_600)) }
    #expect(closings.thread(of: 0) != nil)
  }

  @Test func `lets no caller wait for ever`() {
    let closer = EventQueueCloser { _ in }
    for _ in 0...EventQueueCloser.mostWaiting { closer.admit(patience: .milliseconds(1)) }
  }
}

import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The batch that events give, as a table, and the parsing of events.
struct `Events of a directory` {
  private let first = IndexSample.name(1)
  private let second = IndexSample.name(2, extension: "json")

  private func event(
    _ kind: DirectoryEvent.Kind, _ name: EntryName? = nil, watch: Int32 = 1
  ) -> DirectoryEvent {
    DirectoryEvent(watch: watch, kind: kind, name: name?.fileName)
  }

  private func batch(_ events: [DirectoryEvent]) -> EventBatch {
    var batch = EventBatch()
    for event in events { batch.add(event, watch: 1) }
    return batch
  }

  @Test func `are all read that were there at the call, however many they are`() throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let queue = try EventQueue(faults: nil)
    _ = try queue.watch(handle, path: scene.path, for: [.created])
    let names = (0..<200).map { IndexSample.name($0).fileName }
    for name in names { _ = try handle.create(name, permissions: 0o600) }
    // Holds one event, so that each takes a read.
    var buffer = [UInt8](repeating: 0, count: 64)
    var found: [String] = []
    try queue.readAll(into: &buffer) { found += $0.compactMap { $0.name?.text } }
    #expect(found == names.map(\.text))
    let isEmptyNow = try queue.isEmpty
    #expect(isEmptyNow)
  }

  @Test func `name each entry once, and whether there was a file of it`() {
    let batch = batch([
      event(.created, first), event(.attributes, first), event(.removed, first),
      event(.movedFrom, second), event(.movedTo, second),
    ])
    #expect(batch.names == [first: true, second: true])
    #expect(!batch.isIncomplete && !batch.concernsDirectory)
  }

  @Test(arguments: [
    DirectoryEvent.Kind.created, .movedTo, .attributes, .closedAfterWriting,
  ])
  func `of these kinds show a file`(kind: DirectoryEvent.Kind) {
    #expect(batch([event(kind, first)]).names == [first: true])
    #expect(batch([event(kind, first), event(.removed, first)]).names == [first: true])
  }

  @Test(arguments: [DirectoryEvent.Kind.removed, .movedFrom])
  func `of these kinds show none`(kind: DirectoryEvent.Kind) {
    #expect(batch([event(kind, first), event(kind, first)]).names == [first: false])
  }

  @Test(arguments: [".larder-1-2", "#35369", "CACHEDIR.TAB", "notes.txt"])
  func `of names that are no entries' ask for nothing`(name: String) {
    let event = DirectoryEvent(watch: 1, kind: .created, name: FileName(text: name))
    #expect(batch([event]).isEmpty)
  }

  @Test func `of the tag, of which loads may have ended, are told apart`() {
    let event = DirectoryEvent(
      watch: 1, kind: .closedAfterWriting, name: FileName(text: "CACHEDIR.TAG"))
    #expect(batch([event]).concernsTag && batch([event]).names.isEmpty)
    #expect(!batch([self.event(.created, first)]).concernsTag)
  }

  @Test func `that were lost, and those of the directory itself, are told apart`() {
    #expect(batch([event(.overflow, watch: -1)]).isIncomplete)
    for kind in [DirectoryEvent.Kind.movedSelf, .removedSelf, .unmounted, .ended] {
      #expect(batch([event(kind)]).concernsDirectory)
    }
    #expect(batch([event(.attributes)]).isEmpty)
  }

  @Test func `of a directory that was watched before are passed over`() {
    #expect(batch([event(.created, first, watch: 2), event(.ended, watch: 2)]).isEmpty)
  }

  private func record(_ kind: UInt32, _ name: String, padded count: Int) -> [UInt8] {
    let words: [UInt32] = [1, kind, 0, UInt32(count)]
    let header = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
    let text = Array(name.utf8)
    return header + text + [UInt8](repeating: 0, count: count - text.count)
  }

  @Test func `are read as the kernel writes them`() {
    let bytes =
      record(0x100, first.description, padded: 48) + record(0x4000, "", padded: 0)
      + record(0x200, String(repeating: "n", count: 200), padded: 208)
    let events = DirectoryEvent.all(in: bytes.span)
    #expect(
      events == [
        event(.created, first), event(.overflow),
        DirectoryEvent(watch: 1, kind: .removed, name: nil),
      ])
  }

  @Test func `that are cut short or lie about their length end the list`() {
    let whole = record(0x100, first.description, padded: 48)
    for count in 0..<whole.count {
      #expect(DirectoryEvent.all(in: whole.span.extracting(..<count)).isEmpty)
    }
    #expect(DirectoryEvent.all(in: (whole + [1, 2, 3]).span).count == 1)
  }
}

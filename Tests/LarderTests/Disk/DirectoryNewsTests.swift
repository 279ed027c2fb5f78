import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The news that events give, as a table, and the parsing of events.
struct `Events of a directory` {
  private let first = IndexSample.name(1)
  private let second = IndexSample.name(2, extension: "json")

  private func event(
    _ kind: DirectoryEvent.Kind, _ name: EntryName? = nil, watch: Int32 = 1
  ) -> DirectoryEvent {
    DirectoryEvent(watch: watch, kind: kind, name: name?.fileName)
  }

  private func news(_ events: [DirectoryEvent]) -> DirectoryNews {
    var news = DirectoryNews()
    for event in events { news.add(event, watch: 1) }
    return news
  }

  @Test func `name each entry once, by what happened last`() {
    let news = news([
      event(.created, first), event(.attributes, first), event(.removed, first),
      event(.movedFrom, second), event(.movedTo, second),
    ])
    #expect(news.names == [first: true, second: false])
    #expect(news.passing == [first])
    #expect(!news.isIncomplete && !news.concernsDirectory)
  }

  @Test(arguments: [
    DirectoryEvent.Kind.created, .movedTo, .attributes, .closedAfterWriting,
  ])
  func `of these kinds leave something to look at`(kind: DirectoryEvent.Kind) {
    #expect(news([event(kind, first)]).names == [first: false])
  }

  @Test(arguments: [DirectoryEvent.Kind.removed, .movedFrom])
  func `of these kinds leave a free name`(kind: DirectoryEvent.Kind) {
    #expect(news([event(kind, first)]).names == [first: true])
    #expect(news([event(kind, first)]).passing.isEmpty)
  }

  @Test(arguments: [".larder-1-2", "#35369", "CACHEDIR.TAG", "notes.txt"])
  func `of names that are no entries' ask for nothing`(name: String) {
    let event = DirectoryEvent(watch: 1, kind: .created, name: FileName(text: name))
    #expect(news([event]).isEmpty)
  }

  @Test func `that were lost, and those of the directory itself, are told apart`() {
    #expect(news([event(.overflow, watch: -1)]).isIncomplete)
    for kind in [DirectoryEvent.Kind.movedSelf, .removedSelf, .unmounted, .ended] {
      #expect(news([event(kind)]).concernsDirectory)
    }
    #expect(news([event(.attributes)]).isEmpty)
  }

  @Test func `of a directory that was watched before are passed over`() {
    #expect(news([event(.created, first, watch: 2), event(.ended, watch: 2)]).isEmpty)
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

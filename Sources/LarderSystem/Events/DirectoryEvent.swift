/// One change in a watched directory. Corresponds to `struct inotify_event`.
package struct DirectoryEvent: Sendable, Equatable {
  /// The kind of change; several bits can be set. Values of linux/inotify.h.
  package struct Kind: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// A file was read, or its last access alone was set.
    package static let accessed = Kind(rawValue: 0x1)
    /// A file was written to, or its modification time alone was set, as by `touch -c -m`.
    package static let modified = Kind(rawValue: 0x2)
    /// The stamps, the owner, the permissions or the attributes of a file were changed.
    package static let attributes = Kind(rawValue: 0x4)
    /// A file that was open for writing was closed.
    package static let closedAfterWriting = Kind(rawValue: 0x8)
    /// A file was renamed away from this name.
    package static let movedFrom = Kind(rawValue: 0x40)
    /// A file was renamed to this name.
    package static let movedTo = Kind(rawValue: 0x80)
    /// A new file or link was made under this name.
    package static let created = Kind(rawValue: 0x100)
    /// The name was removed.
    package static let removed = Kind(rawValue: 0x200)
    /// The directory itself was removed.
    package static let removedSelf = Kind(rawValue: 0x400)
    /// The directory itself was moved to another path.
    package static let movedSelf = Kind(rawValue: 0x800)
    /// The filesystem was unmounted.
    package static let unmounted = Kind(rawValue: 0x2000)
    /// Events were lost, because they came faster than they were read.
    package static let overflow = Kind(rawValue: 0x4000)
    /// The watch has ended.
    package static let ended = Kind(rawValue: 0x8000)
    /// A flag for the request: only a directory may be watched.
    static let onlyDirectory = Kind(rawValue: 0x100_0000)
    /// A flag for the request: files that have no name, or not yet, cause no event when closed.
    package static let exceptUnlinked = Kind(rawValue: 0x400_0000)
  }

  /// The watch of the event; −1 for an overflow.
  package let watch: Int32
  package let kind: Kind
  /// The name of the event; nil for the directory itself and a name longer than any of the cache's.
  package let name: FileName?

  package init(watch: Int32, kind: Kind, name: FileName?) {
    self.watch = watch
    self.kind = kind
    self.name = name
  }

  /// Whether the watched directory was removed or moved, or is no longer watched.
  package var endsWatch: Bool { has([.removedSelf, .movedSelf, .unmounted, .ended]) }

  /// Whether the name was removed or moved away.
  package var removesName: Bool { has([.removed, .movedFrom]) }

  /// Whether the name was made, by a new file, a link or a rename.
  package var makesName: Bool { has([.created, .movedTo]) }

  /// Whether one of some bits is set. In this target, because in another target the set of bits
  /// would not be specialised, which took 1,900 instructions an event.
  private func has(_ bits: Kind) -> Bool { kind.rawValue & bits.rawValue != 0 }

  package static func == (a: DirectoryEvent, b: DirectoryEvent) -> Bool {
    a.watch == b.watch && a.kind == b.kind && a.name?.text == b.name?.text
  }
}

extension DirectoryEvent {
  private static let headerCount = 16

  /// Parses the events in bytes from the kernel, in order. See: man 7 inotify.
  ///
  /// Each event is a header of four words, the last of which is the length of the name that
  /// follows; the name is padded with zeros. The list ends before a record that is cut short.
  static func all(in bytes: Span<UInt8>) -> [DirectoryEvent] {
    var events: [DirectoryEvent] = []
    var start = 0
    while bytes.count - start >= headerCount {
      let nameCount = Int(bytes.littleEndianUInt32(at: start + 12))
      guard nameCount <= bytes.count - start - headerCount else { break }
      let nameStart = start + headerCount
      events.append(
        DirectoryEvent(
          watch: Int32(bitPattern: bytes.littleEndianUInt32(at: start)),
          kind: Kind(rawValue: bytes.littleEndianUInt32(at: start + 4)),
          name: name(in: bytes, nameStart..<nameStart + nameCount)))
      start = nameStart + nameCount
    }
    return events
  }

  private static func name(in bytes: Span<UInt8>, _ range: Range<Int>) -> FileName? {
    var name = FileName()
    for index in range {
      if bytes[index] == 0 { break }
      if name.count == FileName.maximumCount { return nil }
      name.append(bytes[index])
    }
    return name.count > 0 ? name : nil
  }
}

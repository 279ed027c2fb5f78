import Larder

extension MissReason {
  /// The meaning of the miss, and the remedy if there is one.
  var sentence: String {
    switch self {
    case .absent: "the key has none"
    case .expired: "it has expired"
    case .damaged:
      "the file is damaged; larder verify DIR --repair removes it, "
        + "larder stamp DIR FILE takes it as it is"
    case .otherKey: "the file of that name says that it is of another key"
    case .otherVersion: "the file was written by another version of the format"
    case .foreign: "what has the file's name is no regular file"
    case .otherOwner: "the file belongs to a user whose files do not count in this directory"
    case .oversized: "the file is longer than the limit allows"
    case .unproven: "the file does not prove its key"
    case .unreadable: "the file cannot be read; check its owner and mode"
    case .undecodable: "the bytes there are not what the reader expects"
    @unknown default: rawValue
    }
  }

  /// The same for what a fixture leaves out. Its manifest wins over a stamp, and no repair is let
  /// in.
  var sentenceInFixture: String {
    self == .damaged
      ? "its content fits no line of the manifest; larder fixture check says more" : sentence
  }
}

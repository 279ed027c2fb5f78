@testable import LarderTool

// Sizes and durations of the command line. None traps, and an accepted one is in range.
func fuzz(_ bytes: [UInt8]) {
  if let size = try? ByteCount(parsing: bytes) {
    require(size.count >= 0, "a negative size")
    // A shown size can be parsed again, and differs by a tenth at most.
    if let again = try? ByteCount(parsing: Array(size.description.utf8)) {
      let difference = again.count.subtractingReportingOverflow(size.count)
      require(
        !difference.overflow && difference.partialValue.magnitude <= size.count.magnitude / 10 + 1,
        "\(size.count) is shown as \(size)")
    } else {
      require(size.count > .max - .max / 16, "\(size) cannot be typed")
    }
  }
  if let span = try? TimeSpan(parsing: bytes) {
    require(span.seconds >= 0, "a negative duration")
    let again = try? TimeSpan(parsing: Array("\(span.seconds)".utf8))
    require(again == span, "\(span.seconds) s came back as \(String(describing: again))")
  }
}

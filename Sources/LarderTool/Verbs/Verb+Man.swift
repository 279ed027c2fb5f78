extension Verb {
  /// `larder man`
  static let man = Verb(
    name: "man",
    summary: "Print the manual page; to read it: larder man | man -l -",
    synonyms: ["manual", "doc", "docs"],
    operands: [],
    run: { call throws(Failure) in try call.man() })
}

extension Call {
  /// Prints the manual page.
  func man() throws(Failure) -> ExitCode {
    if isJSON {
      try console.print(["schema": 1, "page": .string(ManualPage.text)])
    } else {
      try console.print(ManualPage.text)
    }
    return .fine
  }
}

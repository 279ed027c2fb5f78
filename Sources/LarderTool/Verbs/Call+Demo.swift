extension Call {
  func demo() throws(Failure) -> ExitCode { .fine }
}

extension Result {
  /// The value; nil for a failure.
  var success: Success? {
    if case .success(let value) = self { value } else { nil }
  }
}

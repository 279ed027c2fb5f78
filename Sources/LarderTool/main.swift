import Larder

// Answers what needs no cache: help, the version, and command lines that make no sense.
do throws(UsageError) {
  let request = try Request(ProcessArguments.raw.dropFirst())
  let answer = Answer(request, width: 80, style: .plain)
  print(answer?.standardOutput ?? "", terminator: "")
} catch {
  print(Answer(error).standardError, terminator: "")
}

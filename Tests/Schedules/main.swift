#if LARDER_SCHEDULES
  import Glibc

  // Set, because the order of dictionaries depends on hashes, which must be the same in every run.
  if unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
  }
  exit(Commands.run(Array(CommandLine.arguments.dropFirst())))
#else
  print("Built without schedules; Tests/Reliability/schedules builds and runs them.")
#endif

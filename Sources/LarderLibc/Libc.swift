// The system's C library by one name, whichever it is.
#if canImport(Glibc)
  @_exported public import Glibc
#else
  @_exported public import Musl
#endif

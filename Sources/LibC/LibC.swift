// The C library, whichever it is: what calls it imports this module.
#if canImport(Glibc)
  @_exported public import Glibc
#else
  @_exported public import Musl
#endif

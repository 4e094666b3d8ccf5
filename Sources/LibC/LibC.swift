// The C library, whichever it is. Code that calls it imports this module.
#if canImport(Glibc)
  @_exported public import Glibc
#else
  @_exported public import Musl
#endif

/// The kernel's number for this thread, as `gettid` returns it; Swift sees no declaration of that function.
package var threadNumber: Int32 {
  var clock = clockid_t()
  // The clock of a thread is its number, inverted, and three bits that say which clock.
  unsafe pthread_getcpuclockid(pthread_self(), &clock)
  return ~(clock >> 3)
}

internal import CSignals
internal import LibC
internal import Threads

/// A watch of the system while a Hive runs: for signals, and for memory pressure.
///
/// One thread of its own waits for both, so that nothing is missed while every task is busy.
final class SystemWatch: Sendable {
  /// The source of notices of memory pressure, or the reason that there is none.
  var memoryPressure: String { pressure.outcome }
  private let slot: Int32
  private let signals: UInt64
  private let pressure: (descriptor: Int32, outcome: String)
  private let ending: StopPipe
  private let hasEnded = Lock(false)

  /// Begins to watch; `signalled` and `memoryIsShort` are called on the watching thread.
  init(
    _ signals: Set<Signal>, _ source: MemoryPressure,
    signalled: @escaping @Sendable (Signal) -> Void, memoryIsShort: @escaping @Sendable () -> Void
  ) throws(LaunchError) {
    func failure(_ reason: String) -> LaunchError {
      let names = signals.sorted { $0.rawValue < $1.rawValue }.map(\.description)
      return LaunchError(
        interruption: .unobserved(signals: names.joined(separator: ", "), reason: reason))
    }
    var bits: UInt64 = 0
    for signal in signals {
      guard (1...64).contains(signal.rawValue) else { throw failure("no such signal") }
      bits |= 1 << UInt64(signal.rawValue - 1)
    }
    guard let ending = StopPipe() else { throw failure(systemMessage(errno)) }
    self.ending = ending
    self.signals = bits
    slot = bits == 0 ? -1 : beehive_signals_open(bits)
    guard bits == 0 || slot >= 0 else { throw failure(systemMessage(-slot)) }
    pressure = source.open()
    guard POSIXThread.detach({ self.watch(signalled, memoryIsShort) }) else {
      release()
      throw failure("the system gives no thread to wait for them")
    }
  }

  /// Ends the watch: previous handlers are back in place when this returns.
  func end() {
    ending.stop()
    hasEnded.wait { $0 ? () : nil }
    release()
  }

  private func release() {
    if slot >= 0 { beehive_signals_close(slot) }
    if pressure.descriptor >= 0 { close(pressure.descriptor) }
  }

  private func watch(_ signalled: (Signal) -> Void, _ memoryIsShort: () -> Void) {
    defer { hasEnded.change { $0 = true } }
    // At least this thread takes the signals, however few others do.
    beehive_signals_admit(signals)
    var descriptors = [
      pollfd(fd: slot < 0 ? -1 : beehive_signals_pipe(slot), events: Int16(POLLIN), revents: 0),
      pollfd(fd: pressure.descriptor, events: Int16(POLLPRI), revents: 0),
    ]
    while ending.poll(&descriptors) != nil {
      if descriptors[0].revents != 0 { for signal in arrived() { signalled(signal) } }
      if descriptors[1].revents & Int16(POLLERR | POLLNVAL) != 0 {
        // The control group is gone: no more notices will come.
        descriptors[1].fd = -1
      } else if descriptors[1].revents != 0 {
        memoryIsShort()
      }
    }
  }

  private func arrived() -> [Signal] {
    var numbers = [UInt8](repeating: 0, count: 64)
    let count = unsafe numbers.withUnsafeMutableBytes { buffer in
      unsafe read(beehive_signals_pipe(slot), buffer.baseAddress, buffer.count)
    }
    // A signal that came twice before the read counts once, as if the kernel had merged it.
    var seen: Set<Signal> = []
    return numbers.prefix(max(0, count)).map { Signal(rawValue: Int32($0)) }
      .filter { seen.insert($0).inserted }
  }
}

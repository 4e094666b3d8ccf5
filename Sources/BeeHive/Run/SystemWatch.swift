internal import BinaryImage
internal import CSignals
internal import LibC
internal import Threads

/// What the system says while a Hive runs: signals, and that memory is short.
///
/// One thread of its own waits for both, so that nothing is missed while every task is busy.
final class SystemWatch: Sendable {
  enum Notice: Sendable {
    case signal(Signal)
    case memoryIsShort
  }

  /// What was found of memory pressure.
  var memoryPressure: MemoryPressure.Availability { pressure.availability }
  private let slot: Int32
  private let signals: UInt64
  private let pressure:
    (descriptor: Int32, isOwned: Bool, availability: MemoryPressure.Availability)
  /// Written to when the thread is to end; its other end is polled.
  private let ending: (reading: Int32, writing: Int32)
  private let hasEnded = Lock(false)

  /// Begins to watch; `tell` is called on the watching thread.
  init(
    _ signals: Set<Signal>, _ source: MemoryPressure, _ tell: @escaping @Sendable (Notice) -> Void
  ) throws(LaunchError) {
    func failure(_ reason: String) -> LaunchError {
      let names = signals.sorted { $0.rawValue < $1.rawValue }.map(\.description)
      return LaunchError(interruption: .signals("\(names.joined(separator: ", ")): \(reason)"))
    }
    var bits: UInt64 = 0
    for signal in signals {
      guard (1...64).contains(signal.rawValue) else { throw failure("no such signal") }
      bits |= 1 << UInt64(signal.rawValue - 1)
    }
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw failure(systemMessage(errno)) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.signals = bits
    slot = bits == 0 ? -1 : beehive_signals_open(bits)
    guard bits == 0 || slot >= 0 else {
      for end in ends { close(end) }
      throw failure(systemMessage(-slot))
    }
    pressure = source.open()
    ending = (ends[0], ends[1])
    guard slot >= 0 || pressure.descriptor >= 0 else {
      hasEnded.withLock { $0 = true }
      return
    }
    guard POSIXThread.detach({ self.watch(tell) }) else {
      release()
      throw failure("the system gives no thread to wait for them")
    }
  }

  /// Ends the watch: previous handlers are back in place when this returns.
  func end() {
    var byte: UInt8 = 0
    unsafe write(ending.writing, &byte, 1)
    _ = hasEnded.wait { $0 ? true : nil }
    release()
  }

  private func release() {
    if slot >= 0 { beehive_signals_close(slot) }
    if pressure.isOwned { close(pressure.descriptor) }
    close(ending.reading)
    close(ending.writing)
  }

  private func watch(_ tell: @Sendable (Notice) -> Void) {
    defer { hasEnded.change { $0 = true } }
    // At least this thread takes them, however few others do.
    beehive_signals_admit(signals)
    var descriptors = [
      pollfd(fd: ending.reading, events: Int16(POLLIN), revents: 0),
      pollfd(fd: slot < 0 ? -1 : beehive_signals_pipe(slot), events: Int16(POLLIN), revents: 0),
      pollfd(fd: pressure.descriptor, events: Int16(POLLPRI), revents: 0),
    ]
    while true {
      let count = unsafe poll(&descriptors, nfds_t(descriptors.count), -1)
      // A signal that somebody else handles: again.
      if count < 0, errno == EINTR { continue }
      guard count > 0, descriptors[0].revents == 0 else { return }
      if descriptors[1].revents != 0 { for signal in arrived() { tell(.signal(signal)) } }
      if descriptors[2].revents & Int16(POLLERR | POLLNVAL) != 0 {
        // The group is gone: nothing more will come of it.
        descriptors[2].fd = -1
      } else if descriptors[2].revents != 0 {
        tell(.memoryIsShort)
      }
    }
  }

  private func arrived() -> [Signal] {
    var numbers = [UInt8](repeating: 0, count: 64)
    let count = unsafe numbers.withUnsafeMutableBytes { buffer in
      unsafe read(beehive_signals_pipe(slot), buffer.baseAddress, buffer.count)
    }
    // One that came twice before anybody looked came once, as it does where the kernel merges them.
    var seen: Set<Signal> = []
    return numbers.prefix(max(0, count)).map { Signal(rawValue: Int32($0)) }
      .filter { seen.insert($0).inserted }
  }
}

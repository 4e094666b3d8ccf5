internal import CElf
internal import LibC

/// A waiting thread of this process, as far as the kernel shows it.
package struct WaitingThread {
  /// The number of the call that it waits in, its arguments, and the ends of its stack and of its code.
  private let words: [UInt]

  /// Nil for a thread that does not wait, or that the kernel does not show.
  package init?(_ number: Int32) {
    // `202 0x7f0c5a3fa048 0x80 … 0x7ffd0a31b2c8 0x7f0c5a2f1ea3`, or `running`.
    let text = String(
      decoding: systemFile("/proc/self/task/\(number)/syscall").bytes, as: UTF8.self)
    words = text.split { $0.isWhitespace }.compactMap { word in
      word.hasPrefix("0x") ? UInt(word.dropFirst(2), radix: 16) : UInt(word)
    }
    if words.count != 9 { return nil }
  }

  /// Returns whether it waits for a recursive mutex that the thread `owner` has. The loader's two mutexes are
  /// recursive: a thread has one while its constructors run, and the other in a callback of `dl_iterate_phdr`.
  fileprivate func waits(for owner: Int32) -> Bool {
    // The fields of glibc's mutex: lock, count, owner, users, kind.
    let mutex = ownMemory(at: words[1], 20)
    let fields = mutex.span
    func field(_ index: Int) -> UInt32? { fields.integer(at: 4 * index, order: .ofThisProcess) }
    return field(2) == UInt32(owner) && field(4) == UInt32(PTHREAD_MUTEX_RECURSIVE_NP)
  }

  /// Finds the function of an image that the thread is in; of several that call each other, the last.
  ///
  /// Reads everything from the file, because the thread may be waiting for the loader.
  ///
  /// - Parameters:
  ///   - path: The path of the image's file.
  ///   - bias: The load bias of the image.
  /// - Returns: The name of its symbol; nil if it is in no function of the image, or the file is not the mapped one.
  package func function(in path: String, at bias: LoadBias) -> String? {
    guard let file = try? ELFFile(OpenedFile(path: path)), let loads = try? file.segments().loads
    else { return nil }
    let code = AddressRanges(
      loads.filter(\.isExecutable).map {
        $0.p_vaddr..<$0.p_vaddr.saturating(adding: $0.p_memsz)
      })
    let stack = ownMemory(at: words[7], Self.mostStack)
    let address = stride(from: 0, to: stack.count, by: MemoryLayout<UInt>.size).lazy
      .compactMap { stack.span.integer(at: $0, as: UInt.self, order: .ofThisProcess) }
      .map { bias.virtualAddress(of: RuntimeAddress(rawValue: $0)).rawValue }
      // A word that is no return address may lead to the beginning of a function.
      .first { $0 < .max && code.covers($0..<$0 + 1) && file.isBehindCall($0, at: bias) }
    return address.flatMap { file.function(at: $0 - 1) }
  }

  /// The most bytes of a stack to look at.
  private static let mostStack = 1 << 16
}

extension [UInt8] {
  /// Whether the bytes end with a call of a known machine, so that a return address follows.
  fileprivate var endWithCall: Bool {
    #if arch(x86_64)
      // In calls through registers and memory, the second byte tells the form, and what follows it.
      count == 8
        && (self[3] == 0xe8
          || [1, 2, 4, 5, 6].contains { self[$0] == 0xff && self[$0 + 1] & 0x38 == 0x10 })
    #elseif arch(arm64)
      // `bl`, and `blr` of a register.
      span.integer(at: 4, as: UInt32.self, order: .little).map {
        $0 >> 26 == 0x25 || $0 & 0xffff_fc1f == 0xd63f_0000
      } ?? false
    #else
      false
    #endif
  }
}

extension ELFFile {
  /// Returns whether the code before an address is a call, and the same in the file and in memory.
  fileprivate func isBehindCall(_ address: UInt64, at bias: LoadBias) -> Bool {
    let start = VirtualAddress(rawValue: address &- 8)
    guard let place = try? segments().extent(from: start, size: 8),
      let bytes = try? file.slice(at: place.offset, count: 8)
    else { return false }
    return Array(bytes).endWithCall
      && bytes.elementsEqual(ownMemory(at: bias.runtimeAddress(of: start).rawValue, 8))
  }

  /// Returns the name of the function that has an address; nil if no symbol says so.
  fileprivate func function(at address: UInt64) -> String? {
    var name: String?
    // A table that cannot be read has no name for it.
    try? forEachSymbol(where: {
      $0.type == UInt8(STT_FUNC) && $0.isDefined && $0.value <= address
        && address - $0.value < $0.size
    }) { symbol in
      name = symbol.name
      return false
    }
    return name
  }
}

/// Returns bytes of this process, fewer if there are no more: other threads may unmap them.
private func ownMemory(at address: UInt, _ count: Int) -> [UInt8] {
  let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
  guard memory >= 0 else { return [] }
  defer { close(memory) }
  return readBytes(of: memory, at: Int(bitPattern: address), count: count).bytes
}

/// Returns whether another thread waits for a recursive mutex that this thread has.
///
/// False if the kernel does not show the calls that threads are in.
package func isKeepingOthersWaiting() -> Bool {
  let threads = (try? directoryNames(of: Array("/proc/self/task".utf8))) ?? []
  return threads.contains { name in
    let number = Int32(String(decoding: name, as: UTF8.self))
    return number.flatMap(WaitingThread.init)?.waits(for: threadNumber) ?? false
  }
}

internal import Harness

nonisolated(unsafe) private let file = MemoryFile()

/// Reads any bytes as an ELF file. The magic is put in front, so that no run is spent on finding it.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var bytes = unsafe copied(start, count)
  bytes.replaceSubrange(0..<min(4, bytes.count), with: [0x7f, 0x45, 0x4c, 0x46])
  unsafe readEverything(in: bytes, of: file)
  return 0
}

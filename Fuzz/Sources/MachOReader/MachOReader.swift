internal import Harness

nonisolated(unsafe) private let file = MemoryFile()

/// Reads any bytes as a Mach-O file, or a universal one.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  unsafe readEverything(in: copied(start, count), of: file)
  return 0
}

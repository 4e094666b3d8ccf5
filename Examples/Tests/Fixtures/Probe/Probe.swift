internal import Steps

/// What a host without Swift calls: runs the steps in `arguments`, which ends with a null.
@c(run_steps)
public func runSteps(
  _ count: CInt, _ arguments: UnsafePointer<UnsafePointer<CChar>?>
) -> CInt {
  // Sound: main's own vector, of which the host says how long it is.
  let words = (0..<Int(count)).compactMap { index in
    unsafe arguments[index].map { unsafe String(cString: $0) }
  }
  return Steps.runSteps(words)
}

internal import BinaryImage
internal import LibC
internal import ObjectFiles
internal import Registration

/// Which files are read.
struct Inputs {
  static let defaultMaxBytes = 1 << 28

  var paths: [String]
  /// Whether what directories hold is read too.
  var isRecursive = false
  /// Whether standard input lists more paths, each ended by NUL.
  var readsList = false
  /// The machine whose images are read, as reports name it; nil for all.
  var architecture: String?
  /// The most that is kept of standard input, or shown of one file by hex and strings.
  var maxBytes = defaultMaxBytes
  /// How many files are read at a time.
  var jobs = 1
  /// Whether a child reads each file.
  var isIsolated = false
  /// Whether the files are compared with each other: then each is read once, under the first of the
  /// names that lead to it.
  var isSet = false

  /// Whether exactly one file is named, so that it is worth a line even with nothing to show.
  var isSingle: Bool { !isRecursive && !readsList && paths.count == 1 }
}

/// One file to read.
struct Input: Sendable {
  /// The path as the system takes it.
  var path: [UInt8]
  /// What reports call it.
  var name: String
  /// Whether a walk found it, so that it may be something else than an object file.
  var isFound: Bool
  /// Whether it is one of the first files, whose sections may have names that are similar to those asked for: to look
  /// into more would take long.
  var isAmongFirst = false
  /// The bytes of the path, where the name cannot say them.
  let pathBytes: [UInt8]?

  init(path: [UInt8], isFound: Bool = false) {
    self.path = path
    let name = String(validating: path, as: UTF8.self)
    self.name = name ?? String(decoding: path, as: UTF8.self)
    pathBytes = name == nil ? path : nil
    self.isFound = isFound
  }

  /// Where an image in it is.
  func place(in container: [String] = []) -> Place {
    Place(path: name, pathBytes: pathBytes, container: container)
  }

  /// Whether what was found here need not have entries: archives hold other files than objects, so do
  /// directories, and a universal file need not have the machine that was asked for. A `.bc` file says
  /// by its name that it is LLVM's intermediate code: some programs install such.
  func mayOmit(_ error: ImageError, in container: [String]) -> Bool {
    guard isFound || !container.isEmpty else { return false }
    return [.notAnObject, .noSuchArchitecture, .noEntries].contains(error.code)
      || error.code == .unsupported && name.hasSuffix(".bc")
  }

  /// Every image that the file is or holds, or why there is none; `body` returns the size of the entries that it has read.
  func forEachImage(architecture: String?, _ body: (FoundImage) -> Int) {
    var room = Scan.leastRoom
    ImageFile.forEachImage(pathBytes: path, name: name, architecture: architecture) { found in
      var found = found
      switch found.image {
      case .success(let image):
        if room <= 0 { found.image = .failure(.noRoom(in: image.path)) }
        room += Scan.room(in: image.part.size)
      case .failure(var error) where error.code == .unreadable && isDirectory(path):
        error.message = "It is a directory; --recursive reads what it holds."
        found.image = .failure(error)
      case .failure: break
      }
      room -= body(found)
    }
  }
}

extension Result<Input, ImageError> {
  /// The name of the file in reports.
  var name: String {
    switch self {
    case .success(let input): input.name
    case .failure(let error): error.image
    }
  }
}

extension Inputs {
  /// What a walk met beside the files that it handed over.
  struct PassedOver: Codable {
    /// Names that led to a file which was handed over before, in a set.
    var repeated = 0
    /// What is in directories and is no regular file: links to directories, FIFOs, devices.
    var irregular = 0

    /// How summaries count the latter; nil where there is none.
    var note: String? { irregular > 0 ? "\(irregular) passed over (no regular files)" : nil }
  }

  /// Has every file read, or why a path leads to none, and takes what comes of it in order.
  func read<Part: Reported>(
    _ read: @escaping ReadingThreads<Part>.Read, take: @escaping (Part) -> Void
  ) -> PassedOver {
    let threads = ReadingThreads(jobs: jobs, read: read, take: take)
    var (count, isolated): (Int, [ReadingThreads<Part>.File]) = (0, [])
    let passed = forEach { file in
      let file = file.map { input in
        var input = input
        input.isAmongFirst = count < 10
        return input
      }
      count += 1
      if isIsolated { isolated.append(file) } else { threads.add(file) }
    }
    threads.finish()
    IsolatedChild.read(isolated, read, take: take)
    return passed
  }

  /// Every file in turn, or why a path leads to none.
  private func forEach(_ body: (Result<Input, ImageError>) -> Void) -> PassedOver {
    let paths = pathBytes
    var passed = PassedOver()
    guard isSet else {
      forEachName(paths, &passed, body)
      return passed
    }
    // What is named is expected to be an object, also where a walk comes upon it before.
    let named = Set(paths.compactMap { $0.flatMap { try? fileStamp(of: $0) }?.number })
    var (known, repeated): (Set<FileStamp.FileNumber>, Int) = ([], 0)
    forEachName(paths, &passed) { file in
      guard case .success(var input) = file, let number = try? fileStamp(of: input.path).number
      else { return body(file) }
      guard known.insert(number).inserted else {
        repeated += 1
        return
      }
      if named.contains(number) { input.isFound = false }
      body(.success(input))
    }
    passed.repeated = repeated
    return passed
  }

  /// The paths as the system passed them, since one need not be UTF-8; nil is standard input.
  private var pathBytes: [[UInt8]?] {
    // Most paths have no byte of the replacement character.
    guard paths.contains(where: { $0.utf8.contains(0xef) }) else {
      return paths.map { $0 == "-" ? nil : Array($0.utf8) }
    }
    let arguments = CommandLine.bytesOfArguments.dropFirst()
    var repaired = Dictionary(grouping: arguments) { String(decoding: $0, as: UTF8.self) }
      .mapValues { $0[...] }
    // Those that look the same are taken in order.
    return paths.map { $0 == "-" ? nil : repaired[$0]?.popFirst() ?? Array($0.utf8) }
  }

  /// Every name in turn; nil is standard input.
  private func forEachName(
    _ paths: [[UInt8]?], _ passed: inout PassedOver, _ body: (Result<Input, ImageError>) -> Void
  ) {
    for path in paths {
      if let path { visit(path, &passed, body) } else { body(standardInput()) }
    }
    guard readsList else { return }
    do throws(ImageError) {
      let list = try StandardInput.read(limit: maxBytes)
      for path in list.split(separator: 0) { visit(Array(path), &passed, body) }
    } catch {
      body(.failure(error))
    }
  }

  private func standardInput() -> Result<Input, ImageError> {
    Result { () throws(ImageError) in
      var input = Input(path: Array(try StandardInput.seekablePath(limit: maxBytes).utf8))
      input.name = "-"
      return input
    }
  }

  private func visit(
    _ path: [UInt8], _ passed: inout PassedOver, _ body: (Result<Input, ImageError>) -> Void
  ) {
    if isRecursive, isDirectory(path) {
      walk(path, &passed, body)
    } else {
      body(.success(Input(path: path)))
    }
  }

  /// The files below a directory in bytewise order; links to directories are not followed.
  private func walk(
    _ directory: [UInt8], _ passed: inout PassedOver, _ body: (Result<Input, ImageError>) -> Void
  ) {
    let slash = UInt8(ascii: "/")
    do throws(ImageError) {
      for name in try directoryNames(of: directory) {
        let path = directory + (directory.last == slash ? [] : [slash]) + name
        if isDirectory(path, followingLinks: false) {
          walk(path, &passed, body)
        } else if leadsToNoFile(path) {
          passed.irregular += 1
        } else {
          // Of what may not be looked at, opening it tells why.
          body(.success(Input(path: path, isFound: true)))
        }
      }
    } catch {
      body(.failure(error))
    }
  }
}

/// Whether a path leads to a directory, or is that of one.
func isDirectory(_ path: [UInt8], followingLinks: Bool = true) -> Bool {
  fileStatus(of: path, followingLinks: followingLinks)?.isDirectory ?? false
}

extension CommandLine {
  /// The arguments as the system passed them.
  fileprivate static var bytesOfArguments: [[UInt8]] {
    // Sound: argv holds argc pointers to NUL-terminated texts that live as long as the process.
    unsafe UnsafeBufferPointer(start: unsafeArgv, count: Int(argc)).map { argument in
      unsafe Array(
        UnsafeRawBufferPointer(start: argument, count: argument.map { unsafe strlen($0) } ?? 0))
    }
  }
}

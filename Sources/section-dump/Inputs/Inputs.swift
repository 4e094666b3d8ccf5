internal import BinaryImage
internal import LibC
internal import ObjectFiles
internal import Registration

/// The files to read, and how to read them.
struct Inputs {
  static let defaultMaxBytes = 1 << 28

  var paths: [String]
  /// Whether to read the files in directories too.
  var isRecursive = false
  /// Whether standard input lists more paths, each ended by NUL.
  var readsList = false
  /// The machine whose images are read, as reports name it; nil for all.
  var architecture: String?
  /// The most bytes to keep of standard input, or to show of one file in hex and strings.
  var maxBytes = defaultMaxBytes
  /// The number of files to read at a time.
  var jobs = 1
  /// Whether to read each file in a child process.
  var isIsolated = false
  /// Whether to compare the files with each other. Then each file is read once, under the first name that leads to it.
  var isSet = false

  /// Whether exactly one file is named. It gets a line even if it has nothing to show.
  var isSingle: Bool { !isRecursive && !readsList && paths.count == 1 }
}

/// One file to read.
struct Input: Sendable {
  /// The path as the system takes it.
  var path: [UInt8]
  /// The name of the file in reports.
  var name: String
  /// Whether a walk found it. Then it need not be an object file.
  var isFound: Bool
  /// Whether it is one of the first files. Only in these are similar section names looked for, because that takes long.
  var isAmongFirst = false
  /// The bytes of the path, if it is not UTF-8.
  let pathBytes: [UInt8]?
  /// The reason that the path leads to no file, if it leads to none.
  private(set) var failure: ImageError?

  init(path: [UInt8], isFound: Bool = false) {
    self.path = path
    let name = String(validating: path, as: UTF8.self)
    self.name = name ?? String(decoding: path, as: UTF8.self)
    pathBytes = name == nil ? path : nil
    self.isFound = isFound
  }

  /// Creates the input of a path that leads to no file.
  init(_ failure: ImageError) {
    self.init(path: Array(failure.image.utf8))
    self.failure = failure
  }

  /// The location of the file.
  var place: Place { Place(path: name, pathBytes: pathBytes) }

  /// Returns whether to ignore this error. Archives and directories hold other files than objects too, and a universal
  /// file may lack the requested machine. Some programs install `.bc` files, which hold LLVM's intermediate code.
  func mayOmit(_ error: ImageError, in container: [String]) -> Bool {
    guard isFound || !container.isEmpty else { return false }
    return [.notAnObject, .noSuchArchitecture, .noEntries].contains(error.code)
      || error.code == .unsupported && name.hasSuffix(".bc")
  }

  /// Hands over each image that the file is or holds, or the error. `body` returns the size of the entries it read.
  ///
  /// `failed` takes an error with the location of the image, or with nil if the image may be left out.
  func forEachImage(
    architecture: String?,
    _ body: (Result<any FileImage, ImageError>, Place) throws(ImageError) -> Int,
    failed: (ImageError, Place?) -> Void
  ) {
    if let failure { return failed(failure, place) }
    var room = Scan.leastRoom
    ImageFile.forEachImage(pathBytes: path, name: name, architecture: architecture) { found in
      let place = Place(path: name, pathBytes: pathBytes, container: found.container)
      var image = found.image
      switch image {
      case .success(let opened):
        if room <= 0 { image = .failure(.noRoom(in: opened.path)) }
        room += Scan.room(in: opened.part.size)
      case .failure(var error) where error.code == .unreadable && isDirectory(path):
        error.message = "It is a directory; --recursive reads what it holds."
        image = .failure(error)
      case .failure: break
      }
      do throws(ImageError) {
        room -= try body(image, place)
      } catch {
        failed(error, mayOmit(error, in: found.container) ? nil : place)
      }
    }
  }
}

extension Inputs {
  /// The result of a walk: in a set, the number of names that led to a known file; and the note of summaries on links
  /// to directories, FIFOs and devices in directories.
  typealias PassedOver = (repeated: Int, note: String?)

  /// Reads every file and hands over the results in order, also the errors of paths that lead to no file.
  func read<Sums>(
    _ read: @escaping ReadingThreads<Sums>.Read, take: @escaping (ReportPart<Sums>) -> Void
  ) -> PassedOver {
    let threads = ReadingThreads(jobs: jobs, read: read, take: take)
    var isolated: [Input] = []
    let passed = forEach { file in
      if isIsolated { isolated.append(file) } else { threads.add(file) }
    }
    threads.finish()
    IsolatedChild(read: read).read(isolated, take: take)
    return passed
  }

  /// Hands over every file in turn, or the error of a path.
  private func forEach(_ body: (Input) -> Void) -> PassedOver {
    let paths = pathBytes
    // A named file is expected to be an object, even if a walk finds it first.
    let named = Set(isSet ? paths.compactMap { $0.flatMap { try? fileStamp(of: $0) }?.number } : [])
    var (handed, repeated, irregular) = (0, 0, 0)
    var known: Set<FileStamp.FileNumber> = []
    func hand(_ input: Input) {
      var input = input
      if isSet, let number = try? fileStamp(of: input.path).number {
        guard known.insert(number).inserted else {
          repeated += 1
          return
        }
        if named.contains(number) { input.isFound = false }
      }
      input.isAmongFirst = handed < 10
      handed += 1
      body(input)
    }
    func attempt(_ action: () throws(ImageError) -> Void) {
      do throws(ImageError) { try action() } catch { body(Input(error)) }
    }
    /// Hands over the files below a directory in bytewise order. Does not follow links to directories.
    func walk(_ directory: [UInt8]) {
      let slash = UInt8(ascii: "/")
      attempt { () throws(ImageError) in
        for name in try directoryNames(of: directory) {
          let path = directory + (directory.last == slash ? [] : [slash]) + name
          if isDirectory(path, followingLinks: false) {
            walk(path)
          } else if leadsToNoFile(path) {
            irregular += 1
          } else {
            // If the file may not be inspected, opening it gives the reason.
            hand(Input(path: path, isFound: true))
          }
        }
      }
    }
    func visit(_ path: [UInt8]) {
      if isRecursive, isDirectory(path) { walk(path) } else { hand(Input(path: path)) }
    }
    for path in paths {
      if let path {
        visit(path)
      } else {
        attempt { () throws(ImageError) in hand(try standardInput()) }
      }
    }
    if readsList {
      attempt { () throws(ImageError) in
        var list: [UInt8] = []
        try forEachChunk { list += $0 }
        for path in list.split(separator: 0) { visit(Array(path)) }
      }
    }
    return (repeated, irregular > 0 ? "\(irregular) passed over (no regular files)" : nil)
  }

  /// The paths as the system passed them, because they need not be UTF-8; nil is standard input.
  private var pathBytes: [[UInt8]?] {
    let others = CommandLine.bytesOfArguments.filter {
      String(validating: $0, as: UTF8.self) == nil
    }
    var repaired = Dictionary(grouping: others) { String(decoding: $0, as: UTF8.self) }
      .mapValues { $0[...] }
    // Paths that look the same are taken in order.
    return paths.map { $0 == "-" ? nil : repaired[$0]?.popFirst() ?? Array($0.utf8) }
  }
}

extension Inputs {
  /// Returns a file with all of standard input, which can be read at any offset.
  ///
  /// Bytes from a pipe are kept in a temporary file. A regular file is read directly.
  private func standardInput() throws(ImageError) -> Input {
    var (status, descriptor) = (stat(), STDIN_FILENO)
    // Sound: the structure lives for the duration of the call.
    if unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG {
      // A file without a name. It is gone once its descriptor is closed.
      guard let stream = unsafe tmpfile() else { throw failure(errno) }
      defer { unsafe fclose(stream) }
      // Sound: the stream is open until it is closed here, once.
      descriptor = unsafe dup(fileno(stream))
      guard descriptor >= 0 else { throw failure(errno) }
      try forEachChunk { chunk throws(ImageError) in
        let reason = chunk.write(to: descriptor)
        guard reason == 0 else { throw failure(reason) }
      }
    }
    var input = Input(path: Array("/dev/fd/\(descriptor)".utf8))
    input.name = "-"
    return input
  }

  /// Hands over standard input, piece by piece.
  private func forEachChunk(_ body: ([UInt8]) throws(ImageError) -> Void) throws(ImageError) {
    var total = 0
    while true {
      // Sound: the pointer covers what is left of the chunk, for the duration of the call.
      let (chunk, reason) = unsafe [UInt8].reading(1 << 16) { rest, _ in
        unsafe LibC.read(STDIN_FILENO, rest.baseAddress, rest.count)
      }
      guard reason == 0 else { throw failure(reason) }
      if chunk.isEmpty { return }
      total += chunk.count
      guard total <= maxBytes else {
        throw ImageError(
          .tooLarge, image: "-",
          message: "Standard input holds more than \(maxBytes) bytes; --max-bytes allows more.")
      }
      try body(chunk)
    }
  }

  private func failure(_ number: Int32) -> ImageError {
    ImageError(system: number, "-", "Standard input: ")
  }
}

/// Returns whether a path is that of a directory, or leads to one through links.
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

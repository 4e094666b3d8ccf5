internal import ArgumentParser
internal import BinaryImage

/// What a command shows of each image, in every format.
///
/// Contents may be read while they are printed, so that a large section is never held as text;
/// what goes wrong then joins the problems of the file.
protocol Dump: Sendable {
  associatedtype Content

  /// The key of the contents in a JSON file object.
  static var contentKey: StaticString { get }
  /// The first line of CSV, behind `path` and `container`.
  static var columns: [String] { get }

  /// What is looked for in the files, and whether it was found so far.
  var wanted: Wanted { get set }

  /// Finds what is to be shown.
  mutating func read(
    _ image: any FileImage, problems: inout [Problem]
  ) throws(ImageError) -> Content

  /// Whether there is nothing to show, so that a table of many files may leave this one out.
  func isEmpty(_ content: Content) -> Bool

  /// What a table says in place of nothing.
  var emptyNote: String { get }

  /// Writes the elements of the JSON array.
  func write(
    _ content: Content, of image: any FileImage, to json: inout JSONWriter,
    problems: inout [Problem])

  /// Writes rows, each as the fields behind `path` and `container`.
  func writeRows(
    _ content: Content, of image: any FileImage, problems: inout [Problem],
    _ row: ([String]) -> Void)

  /// Writes what stands below the line that names the file.
  func writeTable(
    _ content: Content, of image: any FileImage, to sink: ByteSink, _ style: Style,
    problems: inout [Problem])
}

extension Dump {
  /// Nothing where a command has no such option.
  var wanted: Wanted {
    get { Wanted() }
    set {}
  }
}

extension Picture {
  /// Writes one HTML page that needs nothing else: `page.html`, with style, data and script in it.
  func writePage(to sink: ByteSink) {
    // What is between two @ in the page names what takes its place.
    let parts = PackageResources.page_html.split(
      separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    for part in parts {
      switch String(decoding: part, as: UTF8.self) {
      case "page.css": sink.write(PackageResources.page_css)
      case "page.js": sink.write(PackageResources.page_js)
      case "data":
        var json = JSONWriter(sink, isInScript: true)
        GraphData(picture: self, plan: PicturePlan(of: self)).write(to: &json)
      default: sink.write(part)
      }
    }
  }
}

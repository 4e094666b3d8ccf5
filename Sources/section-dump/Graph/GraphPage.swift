/// A picture as one HTML page that needs nothing else: `page.html`, with style, data and script in it.
struct GraphPage {
  let picture: Picture
  let sink: ByteSink

  func write() {
    // What stands between two @ in the page names what takes its place.
    let parts = PackageResources.page_html.split(
      separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    for part in parts {
      switch String(decoding: part, as: UTF8.self) {
      case "page.css": sink.write(PackageResources.page_css[...])
      case "page.js": sink.write(PackageResources.page_js[...])
      case "data": writeData()
      default: sink.write(part)
      }
    }
  }

  private func writeData() {
    var json = JSONWriter(sink, isInScript: true)
    GraphData(picture: picture, plan: PicturePlan(of: picture)).write(to: &json)
  }
}

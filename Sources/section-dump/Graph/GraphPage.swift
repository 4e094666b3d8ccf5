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
    let plan = PicturePlan(of: picture)
    var json = JSONWriter(sink, isInScript: true)
    json.object { json in
      json.key("summary")
      json.string(picture.summary)
      json.key("notes")
      json.array(picture.notes)
      json.key("width")
      json.number(plan.size.width)
      json.key("height")
      json.number(plan.size.height)
      json.key("files")
      json.array { json in
        for (file, box) in zip(picture.files, plan.files) {
          json.lineBreak()
          json.object { json in
            json.key("name")
            json.string(file.name)
            json.key("machine")
            json.string(file.machine)
            Self.write(box, to: &json)
          }
        }
      }
      json.key("nodes")
      json.array { json in
        for (node, box) in zip(picture.nodes, plan.nodes) {
          json.lineBreak()
          Self.write(node, box, to: &json)
        }
      }
      json.key("edges")
      json.array { json in
        for (edge, bends) in zip(picture.edges, plan.bends) {
          json.lineBreak()
          Self.write(edge, bends, to: &json)
        }
      }
    }
  }

  private static func write(_ node: Picture.Node, _ box: PicturePlan.Box, to json: inout JSONWriter)
  {
    json.object { json in
      json.key("kind")
      json.string(node.kind.rawValue)
      json.key("name")
      json.string(node.name)
      json.key("caption")
      json.string(node.caption)
      json.key("attributes")
      json.string(node.attributes)
      json.key("file")
      json.number(node.file)
      json.key("place")
      json.string(node.place)
      json.key("isInCircle")
      json.boolean(node.isInCircle)
      json.key("findings")
      json.array(node.findings)
      write(box, to: &json)
    }
  }

  private static func write(
    _ edge: Picture.Edge, _ bends: [PicturePlan.Point], to json: inout JSONWriter
  ) {
    json.object { json in
      json.key("kind")
      json.string(edge.kind.rawValue)
      json.key("from")
      json.number(edge.from)
      json.key("to")
      json.number(edge.to)
      json.key("isInCircle")
      json.boolean(edge.isInCircle)
      json.key("bends")
      json.array { json in
        for point in bends {
          json.number(point.x)
          json.number(point.y)
        }
      }
    }
  }

  private static func write(_ box: PicturePlan.Box, to json: inout JSONWriter) {
    for (key, number) in [
      ("x", box.origin.x), ("y", box.origin.y), ("width", box.size.width),
      ("height", box.size.height),
    ] {
      json.key(key)
      json.number(number)
    }
  }
}

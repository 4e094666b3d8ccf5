/* A plugin of GStreamer with no feature; its symbol is named after its file. */
#include <gst/gst.h>

#define PACKAGE "beehive"
static gboolean start(GstPlugin *plugin) {
  (void)plugin;
  return TRUE;
}
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, p@@@@, "a plugin", start, "1.0", "LGPL", "beehive",
                  "beehive")

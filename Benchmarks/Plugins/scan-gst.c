/* The start of every program that uses GStreamer: gst_init, with or without a registry. Prints how many plugins of
 * this folder it knows. */
#include <gst/gst.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
  gst_init(&count, &arguments);
  int known = 0;
  GList *plugins = gst_registry_get_plugin_list(gst_registry_get());
  for (GList *plugin = plugins; plugin; plugin = plugin->next) {
    const char *file = gst_plugin_get_filename(plugin->data);
    known += file && strncmp(file, arguments[1], strlen(arguments[1])) == 0;
  }
  printf("%d\n", known);
  return 0;
}

// Prints the pointer entries of the program it is linked into.
#include <BeeHive.h>
#include <stdio.h>

static int ups;

void beehive_image_event(beehive_image *image, int event) {
  if (event != BEEHIVE_IMAGE_UP) return;
  ups++;
  const char *const *entry = (const char *const *)image->mods;
  for (; (const void *)entry < image->mods_end; entry++) printf("module %s\n", *entry);
  entry = (const char *const *)image->services;
  for (; (const void *)entry < image->services_end; entry++) printf("service %s\n", *entry);
}

int main(void) { return ups == 1 ? 0 : 1; }

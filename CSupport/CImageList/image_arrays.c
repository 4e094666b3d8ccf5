/* Comparing entries, giving back memory. */
#include <stdlib.h>
#include <string.h>

#include "CImageList.h"

bool image_list_same(
    const image_list *list, size_t index, const image_list *other, size_t other_index) {
  const image_entry *a = &list->entries[index], *b = &other->entries[other_index];
  return a->program_headers == b->program_headers && a->header == b->header &&
         a->bias == b->bias && a->layout == b->layout && a->note == b->note &&
         a->build_id_size == b->build_id_size &&
         memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
         strcmp(list->names + a->name, other->names + b->name) == 0;
}

uintptr_t image_home_bias(void) {
  static const char here = 0;
  image_place place = {0};
  return image_place_find(&here, &place) != NULL ? place.bias : 0;
}

void image_list_free(image_list *list) {
  free(list->entries);
  free(list->names);
  *list = (image_list){0};
}

uint8_t *image_copies_piece(image_copies *copies, image_piece piece, bool whole) {
  uint8_t *bytes;
  if (whole) {
    bytes = copies->bytes;
    copies->bytes = NULL;
    copies->bytes_size = copies->bytes_capacity = 0;
  } else {
    bytes = malloc(piece.size + 1);
    if (bytes != NULL) memcpy(bytes, copies->bytes + piece.offset, piece.size);
  }
  return bytes;
}

void image_bytes_free(uint8_t *bytes) { free(bytes); }

void image_copies_free(image_copies *copies) {
  free(copies->images);
  free(copies->ranges);
  free(copies->bytes);
  free(copies->texts);
  *copies = (image_copies){0};
}

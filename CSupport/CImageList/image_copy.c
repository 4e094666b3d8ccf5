/* One pass through the loader's list: copies of chosen images' sections.
 *
 * The loader holds its lock during the pass and cannot unmap anything. So the memory of other images is
 * read here, and when a scan copies headers and notes. An image that is being loaded is visible too. Its
 * pointers may not be relocated yet, so each is followed only after it was found inside the image. */
#include "image_loader.h"

#include <stdlib.h>
#include <string.h>

struct copying {
  const image_list *list;
  const image_request *requests;
  const image_wanted *wanted;
  size_t count;
  size_t next; /* the first request that was not met in its turn */
  image_copies *copies;
  size_t needed_bytes, needed_texts;
};

/* Copies a piece if it fits. Counts it in any case, so that the next pass has room. */
static image_piece put(struct copying *copying, const void *bytes, size_t size) {
  image_copies *copies = copying->copies;
  /* Sections keep their alignment of 8. */
  size_t offset = (copying->needed_bytes + 7) & ~(size_t)7;
  copying->needed_bytes = offset + size;
  if (size == 0 || copying->needed_bytes > copies->bytes_capacity) return (image_piece){0, 0};
  memcpy(copies->bytes + offset, bytes, size);
  copies->bytes_size = copying->needed_bytes;
  return (image_piece){offset, size};
}

/* The text at `address`, if it is in the image. `contents` are those of the segment with the text
 * before, because most texts of an image are in one segment. */
static image_text put_text(
    struct copying *copying, const loader_image *image, uintptr_t address, image_range *contents,
    size_t *budget) {
  image_text text = {.address = address};
  bool writable;
  if (address == 0 ||
      ((address < contents->start || address >= contents->stop) &&
       (!image_contents(image, address, address, contents, &writable) ||
        address == contents->stop))) {
    text.status = IMAGE_TEXT_OUTSIDE;
    return text;
  }
  size_t limit = contents->stop - address;
  if (limit > IMAGE_TEXT_LIMIT + 1) limit = IMAGE_TEXT_LIMIT + 1;
  const char *end = memchr((const void *)address, 0, limit);
  if (end == NULL) {
    text.status = IMAGE_TEXT_UNTERMINATED;
    return text;
  }
  size_t size = (size_t)(end - (const char *)address);
  if (size > *budget) {
    text.status = IMAGE_TEXT_OVER_BUDGET;
    return text;
  }
  *budget -= size;
  text.status = IMAGE_TEXT_COPIED;
  text.offset = copying->needed_bytes;
  text.size = (uint32_t)size;
  copying->needed_bytes += size;
  if (copying->needed_bytes <= copying->copies->bytes_capacity) {
    memcpy(copying->copies->bytes + text.offset, (const void *)address, size);
    copying->copies->bytes_size = copying->needed_bytes;
  }
  return text;
}

static void copy_range(
    struct copying *copying, const loader_image *image, const image_wanted *wanted,
    image_copied *copied, size_t *budget) {
  image_copies *copies = copying->copies;
  image_range range = wanted->range, contents;
  bool found = image_contents(image, range.start, range.stop, &contents, &copied->writable);
  copied->readable = found || range.start == range.stop;
  if (!found) return;
  const unsigned char *bytes = (const unsigned char *)range.start;
  size_t size = range.stop - range.start;
  copied->bytes = put(copying, bytes, size);
  if (!wanted->holds_pointers) return;
  copied->first_text = copying->needed_texts;
  image_range segment = {0, 0};
  for (size_t slot = 0; size - slot >= sizeof(uintptr_t); slot += sizeof(uintptr_t)) {
    uintptr_t address;
    memcpy(&address, bytes + slot, sizeof address);
    image_text text = put_text(copying, image, address, &segment, budget);
    if (copying->needed_texts++ < copies->texts_capacity)
      copies->texts[copies->texts_size++] = text;
  }
  copied->text_count = copying->needed_texts - copied->first_text;
}

static const image_entry *requested(const struct copying *copying, size_t number) {
  return &copying->list->entries[copying->requests[number].entry];
}

static void copy_image(
    struct copying *copying, const loader_image *image, size_t number) {
  const image_request *request = &copying->requests[number];
  image_copy *copy = &copying->copies->images[number];
  image_range header, program;
  image_headers(image, requested(copying, number)->header, &header, &program);
  copy->present = true;
  copy->place = image_place_of(image);
  copy->relocated = image_is_relocated(copy->place.lowest);
  copy->header = put(copying, (const void *)header.start, header.stop - header.start);
  copy->program_headers = put(copying, (const void *)program.start, program.stop - program.start);
  size_t budget = IMAGE_TEXT_BUDGET;
  size_t start = copying->needed_bytes;
  for (size_t i = 0; i < request->range_count; i++) {
    size_t range = request->first_range + i;
    copy_range(copying, image, &copying->wanted[range], &copying->copies->ranges[range], &budget);
  }
  if (copying->needed_bytes <= copying->copies->bytes_capacity)
    copy->contents = (image_piece){start, copying->needed_bytes - start};
}

static bool is_requested(const struct copying *copying, size_t number, const loader_image *image) {
  const image_entry *entry = requested(copying, number);
  return entry->program_headers == (uintptr_t)image->dlpi_phdr && entry->bias == image->dlpi_addr &&
         strcmp(copying->list->names + entry->name, image_name(image)) == 0;
}

/* Requests usually come in the loader's order, so each image is the next one or none. */
static int copy_in_turn(loader_image *image, size_t size, void *context) {
  (void)size;
  struct copying *copying = context;
  size_t next = copying->next;
  if (next == copying->count) return 1;
  if (is_requested(copying, next, image)) {
    copy_image(copying, image, next);
    copying->next++;
  }
  return 0;
}

/* The same for requests that are not in the loader's order, or come after an image that is gone. Callers
 * ask for few at a time. */
static int copy_if_requested(loader_image *image, size_t size, void *context) {
  (void)size;
  struct copying *copying = context;
  for (size_t number = copying->next; number < copying->count; number++)
    if (is_requested(copying, number, image)) copy_image(copying, image, number);
  return 0;
}

/* One pass, and a second one if a requested image was not the next one. */
static void copy_all(struct copying *copying) {
  copying->next = 0;
  loader_walk(copy_in_turn, copying);
  if (copying->next < copying->count) loader_walk(copy_if_requested, copying);
}

/* Makes room for the pass, which allocates nothing. The old contents of the buffers are lost. */
static bool make_room(image_copies *copies, size_t bytes, size_t texts) {
  if (bytes > copies->bytes_capacity) {
    free(copies->bytes);
    copies->bytes = malloc(bytes);
    copies->bytes_capacity = copies->bytes != NULL ? bytes : 0;
  }
  if (texts > copies->texts_capacity) {
    free(copies->texts);
    copies->texts = malloc(texts * sizeof *copies->texts);
    copies->texts_capacity = copies->texts != NULL ? texts : 0;
  }
  return copies->bytes_capacity >= bytes && copies->texts_capacity >= texts;
}

bool image_list_copy(
    const image_list *list, const image_request *requests, size_t count, const image_wanted *wanted,
    size_t wanted_count, image_copies *copies) {
  if (count == 0) return true;
  size_t bytes = count * 1024, texts = 0; /* headers */
  for (size_t i = 0; i < wanted_count; i++) {
    /* A first guess only: whether the image holds such a range is not checked yet. */
    size_t size = wanted[i].range.stop - wanted[i].range.start;
    if (size > 65536) size = 65536;
    bytes += wanted[i].holds_pointers ? size * 6 : size; /* 40 bytes of text per pointer */
    if (wanted[i].holds_pointers) texts += size / sizeof(uintptr_t);
  }
  struct copying copying = {list, requests, wanted, .count = count, .copies = copies};
  copies->images = malloc(count * sizeof *copies->images);
  copies->ranges = malloc((wanted_count + 1) * sizeof *copies->ranges);
  bool done = false;
  if (copies->images != NULL && copies->ranges != NULL && make_room(copies, bytes, texts)) {
    do {
      memset(copies->images, 0, count * sizeof *copies->images);
      memset(copies->ranges, 0, wanted_count * sizeof *copies->ranges);
      copies->bytes_size = copies->texts_size = 0;
      copying.needed_bytes = copying.needed_texts = 0;
      copy_all(&copying);
      done = copying.needed_bytes <= copies->bytes_capacity &&
             copying.needed_texts <= copies->texts_capacity;
    } while (!done && make_room(copies, copying.needed_bytes + copying.needed_bytes / 4,
                                copying.needed_texts + copying.needed_texts / 4));
  }
  return done;
}

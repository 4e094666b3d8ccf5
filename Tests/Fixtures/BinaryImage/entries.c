// Annotated by hand, as somebody would who has never seen the headers of this project.
#define ENTRY(section_name) \
  __attribute__((used, retain, aligned(8), section(section_name))) static const char *const
ENTRY("BeehiveMods") first = "ShopModule";
ENTRY("BeehiveMods") second = "Cart.CartModule";
ENTRY("BeehiveServices") third = "{ \"HomeService\" : \"HomeViewModel\" }";
int answer(void) { return 42; }
int main(void) { return 0; }
void _start(void) {}

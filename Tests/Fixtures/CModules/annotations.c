/* What an author of C writes for types of Swift: AnnotationMethodTests has the types. */
#include <BeeHive.h>

BeeHiveMod(BeeHiveTests.AnnotatedModule);
BeeHiveService(BeeHiveTests.AnnotatedService, BeeHiveTests.AnnotatedServiceImpl);

/// Makes the linker take the object, because it takes an archive's members only on demand.
void modules_link(void);

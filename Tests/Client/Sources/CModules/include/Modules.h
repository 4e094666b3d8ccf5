/// Makes the linker take the object: an archive's members come only when asked for.
void modules_link(void);

/* Empty: nobody calls this library by name, the host finds what it offers in its sections. */

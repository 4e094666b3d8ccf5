/* Empty: nobody calls this library by name. The host finds its entries in its sections. */

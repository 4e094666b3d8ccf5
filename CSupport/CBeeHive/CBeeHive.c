// Layout checks stand here.

/* A library for tests of the search: with the entry that is sought, or an older one without it. */
#ifdef WW_OLD_STUB
int ww_older_entry(void) { return 1; }
#else
int ww_stub_entry(void) { return 1; }
#endif

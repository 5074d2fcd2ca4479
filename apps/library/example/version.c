/* The C interface from C. */
#include <stdio.h>
#include <wirewatt/wirewatt.h>

int main(void) {
  wirewatt_session* session = NULL;
  printf("wirewatt %s\n", wirewatt_version());
  if (wirewatt_open("virtual", "", &session) != WIREWATT_OK) printf("%s\n", wirewatt_error());
  wirewatt_close(session);
  return 0;
}

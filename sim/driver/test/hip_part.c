/* Of hip_parts.hip. C++ would take `class` for a keyword. */
int number_of_parts(void) {
  int class = 3;
  return class;
}

// Greedy colouring by independent sets: who holds the largest value among its uncoloured neighbours
// takes the round's colour.
__kernel void find_maxima(__global const uint* first, __global const uint* target,
                          __global const uint* value, __global const int* colour,
                          __global int* chosen, __global uint* left) {
  const uint v = get_global_id(0);
  if (colour[v] >= 0) return;
  *left = 1u;
  int best = 1;
  for (uint e = first[v]; e < first[v + 1u]; ++e) {
    const uint t = target[e];
    if (t == v || colour[t] >= 0) continue;
    if (value[t] > value[v] || (value[t] == value[v] && t > v)) { best = 0; break; }
  }
  chosen[v] = best;
}
__kernel void paint(__global const int* chosen, __global int* colour, int round) {
  const uint v = get_global_id(0);
  if (colour[v] < 0 && chosen[v]) colour[v] = round;
}

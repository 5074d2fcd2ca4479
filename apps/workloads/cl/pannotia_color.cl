// Graph colouring as Pannotia's coloring_max: the largest value among each vertex's uncoloured
// neighbours, all of which are looked at, then a colour for those whose own value is larger.
__kernel void largest_neighbour(__global int* first, __global int* target, __global float* value,
                                __global int* colour, __global int* again, __global float* largest,
                                int vertices) {
  const int v = get_global_id(0);
  if (v >= vertices || colour[v] != -1) return;
  const int end = first[v + 1];
  float most = -1.0f;
  for (int edge = first[v]; edge < end; ++edge) {
    if (colour[target[edge]] != -1) continue;
    *again = 1;
    if (value[target[edge]] > most) most = value[target[edge]];
  }
  largest[v] = most;
}
__kernel void paint(__global float* value, __global int* colour, __global float* largest, int round,
                    int vertices) {
  const int v = get_global_id(0);
  if (v < vertices && colour[v] == -1 && value[v] > largest[v]) colour[v] = round;
}

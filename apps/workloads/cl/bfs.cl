// Breadth-first search, one work-item a vertex: the frontier is a mask over all vertices.
__kernel void expand(__global const uint* first, __global const uint* target,
                     __global const uint* frontier, __global uint* next, __global uint* level,
                     uint depth) {
  const uint v = get_global_id(0);
  if (!frontier[v]) return;
  for (uint e = first[v]; e < first[v + 1u]; ++e) {
    const uint t = target[e];
    // Several may find t; they all write the same.
    if (level[t] == 0xFFFFFFFFu) {
      level[t] = depth + 1u;
      next[t] = 1u;
    }
  }
}
__kernel void advance(__global uint* frontier, __global uint* next, __global uint* more) {
  const uint v = get_global_id(0);
  const uint found = next[v];
  frontier[v] = found;
  next[v] = 0u;
  if (found) *more = 1u;
}

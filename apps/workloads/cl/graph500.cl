// Top-down breadth-first search with queues: who claims a vertex first becomes its parent.
__kernel void expand_queue(__global const uint* first, __global const uint* target,
                           __global const uint* queue, uint size, __global uint* parent,
                           __global uint* next, __global uint* next_size) {
  const uint i = get_global_id(0);
  if (i >= size) return;
  const uint v = queue[i];
  for (uint e = first[v]; e < first[v + 1u]; ++e) {
    const uint t = target[e];
    if (parent[t] == 0xFFFFFFFFu && atomic_cmpxchg(&parent[t], 0xFFFFFFFFu, v) == 0xFFFFFFFFu) {
      next[atomic_inc(next_size)] = t;
    }
  }
}

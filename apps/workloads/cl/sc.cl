// Streamcluster's gain of opening a centre at point x: every point compares its distance to x with
// its present cost. Coordinates lie dimension by dimension,
// so that a wavefront's loads are coalesced.
__kernel void gain(__global const float* coordinates, __global const float* cost,
                   __global float* saving, __global uint* would_move,
                   uint points, uint dimensions, uint x) {
  const uint i = get_global_id(0);
  float d = 0.0f;
  for (uint k = 0; k < dimensions; ++k) {
    const float delta = coordinates[k * points + i] - coordinates[k * points + x];
    d += delta * delta;
  }
  const float save = cost[i] - d;
  would_move[i] = save > 0.0f;
  saving[i] = save;
}

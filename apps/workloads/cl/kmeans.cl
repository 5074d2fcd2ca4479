// The nearest of K centres for every point; features lie one after the other, all points of each.
__kernel void assign(__global const float* features, __global const float* centres,
                     __global uint* membership, uint points, uint dimensions, uint clusters) {
  const uint i = get_global_id(0);
  float best = FLT_MAX;
  uint nearest = 0;
  for (uint c = 0; c < clusters; ++c) {
    float d = 0.0f;
    for (uint k = 0; k < dimensions; ++k) {
      const float delta = features[k * points + i] - centres[c * dimensions + k];
      d += delta * delta;
    }
    if (d < best) {
      best = d;
      nearest = c;
    }
  }
  membership[i] = nearest;
}

// Distance of every record from a place; the nearest are picked on the host.
__kernel void distance_to(__global const float2* places, __global float* out, float lat, float lng) {
  const uint i = get_global_id(0);
  const float2 p = places[i];
  out[i] = sqrt((lat - p.x) * (lat - p.x) + (lng - p.y) * (lng - p.y));
}

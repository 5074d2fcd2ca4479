// Monte Carlo path tracing in a box of spheres, diffuse and mirror; Russian roulette ends paths.
// Each pixel draws from its own xorshift stream.
float draw(uint* state) {
  *state ^= *state << 13; *state ^= *state >> 17; *state ^= *state << 5;
  return (float)(*state >> 8) * (1.0f / 16777216.0f);
}
__kernel void trace(__global const float* spheres,  // [9][12]: centre, radius, colour, emission, kind
                    __global float* image, int width, int height, int samples) {
  const int x = get_global_id(0), y = get_global_id(1);
  uint state = (uint)(y * width + x) * 2654435761u + 12345u;
  float3 total = 0.0f;
  for (int sample = 0; sample < samples; ++sample) {
    const float u = ((float)x + draw(&state)) / (float)width - 0.5f;
    const float v = ((float)y + draw(&state)) / (float)height - 0.5f;
    float3 origin = (float3)(0.0f, 0.0f, 3.5f);
    float3 ray = normalize((float3)(u, v, -1.0f));
    float3 weight = 1.0f;
    for (int depth = 0; depth < 12; ++depth) {
      float nearest = 1e20f;
      int hit = -1;
      for (int i = 0; i < 9; ++i) {
        __global const float* s = spheres + i * 12;
        const float3 op = (float3)(s[0], s[1], s[2]) - origin;
        const float b = dot(op, ray);
        const float det = b * b - dot(op, op) + s[3] * s[3];
        if (det < 0.0f) continue;
        const float root = sqrt(det);
        const float t = b - root > 1e-2f ? b - root : b + root;
        if (t > 1e-2f && t < nearest) { nearest = t; hit = i; }
      }
      if (hit < 0) break;
      __global const float* s = spheres + hit * 12;
      origin += ray * nearest;
      float3 normal = normalize(origin - (float3)(s[0], s[1], s[2]));
      if (dot(normal, ray) > 0.0f) normal = -normal;
      total += weight * s[7];
      weight *= (float3)(s[4], s[5], s[6]);
      if (depth > 3) {
        const float keep = fmax(weight.x, fmax(weight.y, weight.z));
        if (draw(&state) >= keep) break;
        weight /= keep;
      }
      if (s[8] > 0.5f) {
        ray -= normal * (2.0f * dot(normal, ray));
      } else {
        const float angle = 6.2831853f * draw(&state), r2 = draw(&state), r = sqrt(r2);
        const float3 axis = fabs(normal.x) > 0.1f ? (float3)(0.0f, 1.0f, 0.0f) : (float3)(1.0f, 0.0f, 0.0f);
        const float3 tangent = normalize(cross(axis, normal));
        ray = normalize(tangent * (cos(angle) * r) + cross(normal, tangent) * (sin(angle) * r) +
                        normal * sqrt(1.0f - r2));
      }
    }
  }
  const int at = (y * width + x) * 3;
  total /= (float)samples;
  image[at] = total.x; image[at + 1] = total.y; image[at + 2] = total.z;
}

// Ray marching of the Mandelbulb (power 8) by its distance estimate; shaded by its slope.
float estimate(float3 p) {
  float3 z = p;
  float dr = 1.0f, r = 0.0f;
  for (int i = 0; i < 6; ++i) {
    r = length(z);
    if (r > 2.0f) break;
    const float theta = acos(z.z / r) * 8.0f, phi = atan2(z.y, z.x) * 8.0f;
    const float r2 = r * r, r7 = r2 * r2 * r2 * r;
    dr = r7 * 8.0f * dr + 1.0f;
    z = r7 * r * (float3)(sin(theta) * cos(phi), sin(phi) * sin(theta), cos(theta)) + p;
  }
  return 0.5f * log(r) * r / dr;
}
__kernel void render(__global float* image, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float3 ray = normalize((float3)((float)(2 * x - width) / (float)width,
                                        (float)(2 * y - height) / (float)height, 1.6f));
  const float3 eye = (float3)(0.0f, 0.0f, -2.6f);
  float t = 0.0f;
  float shade = 0.0f;
  for (int i = 0; i < 64; ++i) {
    const float d = estimate(eye + ray * t);
    if (d < 0.002f) {
      shade = 1.0f - (float)i / 64.0f;
      break;
    }
    t += d;
    if (t > 5.0f) break;
  }
  image[y * width + x] = shade;
}

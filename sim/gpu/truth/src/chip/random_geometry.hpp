// Draws where a chip's parts lie, and what its publisher says of it.
#pragma once

#include "draw.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {

// Four engines and four L2 quadrants: engines in the corners around the L2, or in a row above it.
// Every CU lies beyond its engine's hub as seen from any channel, so that hub routes are direct.
void draw_geometry(Draw& draw, const Architecture& architecture, Truth& truth);

// Engines of two shader arrays each, above and below the quadrants of the L2.
void draw_rdna_geometry(Draw& draw, const Architecture& architecture, Truth& truth);

// The published floorplan: the true one with a common scale error and, unless the chip is nested,
// an error of each block's place. Needs geometry and variation.
void draw_published(Draw& draw, Truth& truth);

}  // namespace ww::sim::gpu

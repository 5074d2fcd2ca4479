// Rows of the tables as entries. The tables say what the arguments are. AT(numbers) chooses the
// number of the generation whose table is made. Modifiers are bits (kModifier... of table.hpp): bit
// i, source i takes neg and abs; 0x08 clamp; 0x10 output scale; 0x20 halves of registers (op_sel);
// 0x40 has an SDWA form; 0x80 has a DPP form.
#pragma once

#include "isa/table.hpp"
#include "isa/tables/compares.hpp"

#define SOP2(number, name, d, s0, s1) \
  {Encoding::sop2, plain, number, Opcode::name, d, {s0, s1, 0}, 0},
#define SOP1(number, name, form, d, s0) \
  {Encoding::sop1, form, number, Opcode::name, d, {s0, 0, 0}, 0},
#define SOPK(number, name, form, d) {Encoding::sopk, form, number, Opcode::name, d, {}, 0},
#define SOPC(number, name, form, s0, s1) \
  {Encoding::sopc, form, number, Opcode::name, 0, {s0, s1, 0}, 0},
#define SOPP(number, name, form) {Encoding::sopp, form, number, Opcode::name, 0, {}, 0},

#define VOP2(number, name, form, d, s0, s1, modifiers) \
  {Encoding::vop2, form, number, Opcode::name, d, {s0, s1, 0}, modifiers},
#define VOP1(number, name, form, d, s0, modifiers) \
  {Encoding::vop1, form, number, Opcode::name, d, {s0, 0, 0}, modifiers},
#define VOP3(number, name, form, d, s0, s1, s2, modifiers) \
  {Encoding::vop3a, form, number, Opcode::name, d, {s0, s1, s2}, modifiers},
#define VOP3P(number, name, form, d, s0, s1, s2, modifiers) \
  {Encoding::vop3p, form, number, Opcode::name, d, {s0, s1, s2}, modifiers},
#define VOPC(number, name, s0, s1, modifiers) \
  {Encoding::vopc, plain, number, Opcode::name, 0, {s0, s1, 0}, modifiers},
#define DS(number, name, form, d, address, data0, data1) \
  {Encoding::ds, form, number, Opcode::name, d, {address, data0, data1}, 0},
#define MUBUF(number, name, form, data) {Encoding::mubuf, form, number, Opcode::name, data, {}, 0},
#define FLAT(number, name, form, data) {Encoding::flat, form, number, Opcode::name, data, {}, 0},
#define MIMG(number, name, form, address, sampler) \
  {Encoding::mimg, form, number, Opcode::name, 0, {address, sampler, 0}, 0},
#define SCRATCH(number, name, form, data) FLAT(number + kFlatSegment, name, form, data)
#define GLOBAL(number, name, form, data) FLAT(number + 2 * kFlatSegment, name, form, data)
#define SMEM(number, name, form, data, base) \
  {Encoding::smem, form, number, Opcode::name, data, {base, 0, 0}, 0},

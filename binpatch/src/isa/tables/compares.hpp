// Vector compares by the grid of conditions and types that all generations share. A grid has the
// number of its first condition, the mnemonic before the condition ("v_cmpx"), the type, the width
// of each source, and the modifiers of the VOP3 form. The tables define VOPC, the row of a compare.
#pragma once

#define ORDERED_COMPARES(first, name, type, width, modifiers)  \
  VOPC((first) + 0, name##_f_##type, width, width, modifiers)  \
  VOPC((first) + 1, name##_lt_##type, width, width, modifiers) \
  VOPC((first) + 2, name##_eq_##type, width, width, modifiers) \
  VOPC((first) + 3, name##_le_##type, width, width, modifiers) \
  VOPC((first) + 4, name##_gt_##type, width, width, modifiers) \
  VOPC((first) + 5, name##_lg_##type, width, width, modifiers) \
  VOPC((first) + 6, name##_ge_##type, width, width, modifiers) \
  VOPC((first) + 7, name##_o_##type, width, width, modifiers)
#define UNORDERED_COMPARES(first, name, type, width, modifiers) \
  VOPC((first) + 0, name##_u_##type, width, width, modifiers)   \
  VOPC((first) + 1, name##_nge_##type, width, width, modifiers) \
  VOPC((first) + 2, name##_nlg_##type, width, width, modifiers) \
  VOPC((first) + 3, name##_ngt_##type, width, width, modifiers) \
  VOPC((first) + 4, name##_nle_##type, width, width, modifiers) \
  VOPC((first) + 5, name##_neq_##type, width, width, modifiers) \
  VOPC((first) + 6, name##_nlt_##type, width, width, modifiers) \
  VOPC((first) + 7, name##_tru_##type, width, width, modifiers)
#define COMPARES_OF_FLOATS(first, name, type, width, modifiers) \
  ORDERED_COMPARES(first, name, type, width, modifiers)         \
  UNORDERED_COMPARES((first) + 8, name, type, width, modifiers)

// The six conditions whose results depend on the values.
#define VARYING_COMPARES(first, name, type, width, modifiers)  \
  VOPC((first) + 0, name##_lt_##type, width, width, modifiers) \
  VOPC((first) + 1, name##_eq_##type, width, width, modifiers) \
  VOPC((first) + 2, name##_le_##type, width, width, modifiers) \
  VOPC((first) + 3, name##_gt_##type, width, width, modifiers) \
  VOPC((first) + 4, name##_ne_##type, width, width, modifiers) \
  VOPC((first) + 5, name##_ge_##type, width, width, modifiers)
#define COMPARES_OF_INTEGERS(first, name, type, width, modifiers) \
  VOPC((first) + 0, name##_f_##type, width, width, modifiers)     \
  VARYING_COMPARES((first) + 1, name, type, width, modifiers)     \
  VOPC((first) + 7, name##_t_##type, width, width, modifiers)

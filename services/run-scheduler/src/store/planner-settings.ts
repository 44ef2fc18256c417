// Planner settings of connections whose statements walk indexes: plans made on young tables, or by estimates that do
// not expect a backlog, are bad ones for full tables.

/** Planner settings of the writing connection. */
export const writerSettings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
} as const;

/** For connections that read pages: in the order of an index, so that a page reads no more than it returns. */
export const pageSettings = {
  ...writerSettings,
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
} as const;

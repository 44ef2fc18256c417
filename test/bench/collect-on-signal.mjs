// Loaded into each process of a stack that is measured: SIGWINCH collects garbage, so that memory is what is used.
process.on('SIGWINCH', () => globalThis.gc?.());

// Loaded into each process of a stack that is measured: SIGUSR2 collects garbage, so that memory is what is used.
process.on('SIGUSR2', () => globalThis.gc?.());

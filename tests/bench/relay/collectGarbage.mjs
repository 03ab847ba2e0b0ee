// Imported into a relay under test, with --expose-gc: lets the bench ask for a collection of garbage before it reads how
// much memory is resident, which otherwise depends on when the last one was.
process.on('SIGUSR2', () => {
  globalThis.gc();
  // Again, for what the first one has only let go of.
  globalThis.gc();
  process.send?.('collected');
});

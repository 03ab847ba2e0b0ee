import { showStoragePage } from './storagePage.ts';

await showStoragePage({
  look: window.location.hash,
  storage: navigator.storage,
  close: () => window.close(),
});

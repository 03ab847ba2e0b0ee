/**
 * A script of its own, ahead of the page's (vite.config.ts): of all that a start takes, the worker takes longest, and it
 * can get ready on its own thread while the page is still being read.
 */
import { cryptoWorker } from '../crypto/worker.ts';
import { tokenStorageKey } from '../services/session/token.ts';

if (localStorage.getItem(tokenStorageKey) !== null) cryptoWorker();

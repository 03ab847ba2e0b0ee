/**
 * A script of its own, ahead of the page's (vite.config.ts): of all that a start takes, the worker takes longest, and it
 * can get ready in its frame while the page is still being read.
 */
import { keysFrame } from '../crypto/keysFrame.ts';
import { tokenStorageKey } from '../services/session/token.ts';

if (localStorage.getItem(tokenStorageKey) !== null) keysFrame();

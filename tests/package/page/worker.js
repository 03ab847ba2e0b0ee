import { said } from './console.js';
import './example.mjs';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's own has no such argument
self.postMessage(said.join('\n'));

import { config } from 'zod/mini';

// Zod otherwise compiles object schemas with `new Function`, which the page's Content-Security-Policy forbids and
// reports. It decides when a schema is made, so this module has to run before the contract's.
config({ jitless: true });

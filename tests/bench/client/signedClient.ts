/** Copies a built client and lays a chain of signed releases beside it, by keys of its own: `node signedClient.js <dist> <folder>`. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { firstRelease, holders, publish } from '../../../verify/test/support/releases.ts';

const [dist, folder] = process.argv.slice(2);
if (dist === undefined || folder === undefined) throw new Error('Which client, and where to?');
for (const part of ['app', 'keys']) await cp(join(dist, part), join(folder, part), { recursive: true });
await publish(folder, await firstRelease(folder, holders('anna', 'bertta', 'carl')));

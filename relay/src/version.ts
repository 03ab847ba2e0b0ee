import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';

/** The version of this relay, as its package has it. */
export const relayVersion = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(packageFile(path.dirname(fileURLToPath(import.meta.url))), 'utf8'))).version;

/** The package that a folder is in, compiled or not. */
function packageFile(folder: string): string {
  const file = path.join(folder, 'package.json');
  return existsSync(file) ? file : packageFile(path.dirname(folder));
}

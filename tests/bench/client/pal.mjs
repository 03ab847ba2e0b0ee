// Builds and runs penPal.ts, and talks with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from '../product.mjs';

/** @param relayUrl where it writes */
export async function startPal(relayUrl) {
  const folder = await bundle(new URL('penPal.ts', import.meta.url));
  const child = spawn(process.execPath, [join(folder, 'penPal.js'), relayUrl], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, value, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the pen pal ended with ${code}`));
  });
  let lastId = 0;
  return {
    /** @param {string} command one of penPal.ts @param {...string} args */
    ask(command, ...args) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.stdin.write(`${JSON.stringify([id, command, ...args])}\n`);
      });
    },
    async stop() {
      child.kill();
      await once(child, 'close');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

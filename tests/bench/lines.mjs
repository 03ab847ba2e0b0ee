// Runs a program that lines.ts serves, and talks with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** @param {string} file the program, built @param {...string} args its own */
export function startLines(file, ...args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, value, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code}`));
  });
  let lastId = 0;
  return {
    /** @param {string} command one of the program's @param {...string} args */
    ask(command, ...words) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.stdin.write(`${JSON.stringify([id, command, ...words])}\n`);
      });
    },
    async stop() {
      child.kill();
      await once(child, 'close');
    },
  };
}

// The other end of lines.mjs: a program that is told what to do line by line on standard input, and answers on standard output.
import { createInterface } from 'node:readline';

type Commands = Readonly<Record<string, (...args: string[]) => Promise<string>>>;

/** Carries out commands one after the other until standard input ends, and ends the program then. */
export async function serveLines(commands: Commands): Promise<never> {
  for await (const line of createInterface({ input: process.stdin })) {
    const [id, name, ...args] = JSON.parse(line) as [number, string, ...string[]];
    try {
      const value = await commands[name]?.(...args);
      process.stdout.write(`${JSON.stringify({ id, value })}\n`);
    } catch (error) {
      process.stdout.write(`${JSON.stringify({ id, error: String(error) })}\n`);
    }
  }
  process.exit(0);
}

import { inspect } from 'node:util';
import { runCommand } from './run.ts';

// The database and its log are for the relay's own account alone.
process.umask(0o077);

try {
  process.exitCode = await runCommand(process.argv.slice(2), {
    environment: process.env,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
} catch (error) {
  process.stderr.write(`${inspect(error)}\n`);
  process.exitCode = 1;
}

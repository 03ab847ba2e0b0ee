#!/usr/bin/env node
// The operator's command. It is here, and not among what the build makes, so that npm can link it before there is a build.
import { existsSync } from 'node:fs';

const program = new URL('../dist/src/operator/main.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write('Build the relay first: npm run build:relay\n');
  process.exitCode = 1;
}

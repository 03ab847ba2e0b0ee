// npm run test:node -- 26: starts the product and runs the tests of npm test that need no browser, under that Node.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeOf } from '../../build/nodeOf.mjs';
import { ofVitest, runs } from './projects.mjs';

const [version] = process.argv.slice(2);
if (!/^\d+(?:\.\d+){0,2}$/.test(version ?? '') || process.argv.length > 3) {
  process.stderr.write('Say which Node: npm run test:node -- 26\n');
  process.exit(2);
}

const isWindows = process.platform === 'win32';
const bin = nodeOf(version);

function run(command, args, environment = process.env) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: environment, shell: isWindows });
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${status}`);
}

async function startsTheProduct(environment) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'sinetti-node-'));
  const relay = spawn('node', ['--enable-source-maps', 'relay/dist/src/server.js'], {
    env: { ...environment, PORT: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: isWindows,
  });
  const ended = once(relay, 'exit');
  let output = '';
  const address = new Promise((resolve) => {
    relay.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /ready at (http:\/\/localhost:\d+)"}\n/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const late = setTimeout(() => relay.kill(), 60_000);
  try {
    const url = await Promise.race([address, ended.then(() => null)]);
    if (url === null) throw new Error(`the product did not start:\n${output}`);
    for (const place of ['/', '/api/openapi.json']) {
      const answer = await fetch(`${url}${place}`);
      if (!answer.ok) throw new Error(`${place} answered ${answer.status}`);
    }
  } finally {
    clearTimeout(late);
    relay.kill();
    await ended;
    await rm(dataDir, { recursive: true });
  }
}

const environment = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` };
run('npm', ['run', 'build'], environment);
await startsTheProduct(environment);
process.stdout.write('The product starts.\n');
run('vitest', ['run', ...ofVitest(runs.quick)], environment);

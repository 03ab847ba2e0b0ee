// The two servers under test, each a process of its own.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const repository = path.resolve(import.meta.dirname, '../../..');

/** The relay as `npm start` runs it, on an empty data folder, without limits on what one account may send. @param webDir the client to serve, if any @param root the checkout whose relay it is */
export async function startRelay({ profile = null, webDir = null, root = repository } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-bench-'));
  const collector = path.join(import.meta.dirname, 'collectGarbage.mjs');
  const options = [
    '--expose-gc',
    '--import',
    pathToFileURL(collector).href,
    ...(profile === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profile]),
  ];
  const child = spawn(process.execPath, [...options, path.join(root, 'relay/dist/src/server.js')], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: folder,
      WEB_DIR: webDir ?? folder,
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const ready = /ready at http:\/\/localhost:(\d+)"?}?\n/.exec(output);
      if (ready !== null) resolve(Number(ready[1]));
    });
    child.once('exit', () => reject(new Error(`the relay did not start: ${output}`)));
  });
  const collectGarbage = async () => {
    const collected = once(child, 'message');
    child.kill('SIGUSR2');
    await collected;
  };
  return server('relay', child, port, folder, collectGarbage);
}

export const mosquittoVersion = () => {
  const { stdout } = spawnSync('mosquitto', ['-h'], { encoding: 'utf8' });
  return /version ([\d.]+)/.exec(stdout ?? '')?.[1] ?? null;
};

/** Mosquitto as Debian packages it, over WebSocket, without bounds that would drop or hold back messages. */
export async function startMosquitto() {
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-bench-'));
  const port = await freePort();
  const config = [
    // This version starts no WebSocket listener unless there is a plain one too.
    `listener ${await freePort()} 127.0.0.1`,
    `listener ${port} 127.0.0.1`,
    'protocol websockets',
    'allow_anonymous true',
    'set_tcp_nodelay true',
    'max_inflight_messages 0',
    'max_queued_messages 0',
    'persistence false',
    'log_type error',
  ];
  await writeFile(path.join(folder, 'mosquitto.conf'), `${config.join('\n')}\n`);
  const child = spawn('mosquitto', ['-c', path.join(folder, 'mosquitto.conf')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await delay(500);
  return server('mosquitto', child, port, folder);
}

function server(name, child, port, folder, collectGarbage = async () => {}) {
  const proc = (file) => readFile(`/proc/${child.pid}/${file}`, 'utf8');
  return {
    name,
    port,
    /** The folder of its data. */
    folder,
    /** Lets go of memory that nothing uses any more, where that is not done at once. */
    collectGarbage,
    /** Resident set size in KiB. */
    async residentKiB() {
      return Number(/VmRSS:\s+(\d+)/.exec(await proc('status'))?.[1]);
    },
    /** Processor time used so far, in seconds. */
    async cpuSeconds() {
      const fields = (await proc('stat')).split(') ')[1].split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
    },
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'close');
      await rm(folder, { recursive: true });
    },
  };
}

async function freePort() {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

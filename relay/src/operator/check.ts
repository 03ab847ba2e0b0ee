import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import path from 'node:path';
import { connect } from 'node:tls';
import { operatorPath } from '../../contract/operator.ts';
import { type Config, readConfig } from '../config.ts';
import { openBeside } from '../db/beside.ts';
import { diskSpace } from '../diskSpace.ts';
import { StartupError } from '../errors.ts';
import { operatorOf } from '../http/operatorFile.ts';
import { appOriginOf } from '../http/origins.ts';
import type { Command } from './command.ts';
import { size } from './text.ts';

type State = 'ok' | 'warning' | 'failed';

interface Finding {
  readonly what: string;
  readonly state: State;
  readonly detail: string;
}

/** Milliseconds that anything that is asked may take. */
const patience = 5000;
/** Bytes of free space below which something is to be done now, or soon. */
const freeSpace = { failed: 512 * 1024 * 1024, warning: 5 * 1024 * 1024 * 1024 };
/** Days before the end of a certificate, by which it should have been renewed. */
const certificateDays = { failed: 2, warning: 14 };
const day = 24 * 60 * 60 * 1000;

const reason = (error: unknown) => (error instanceof Error ? error.message : 'unknown reason');
const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
const failed = (what: string, detail: string): Finding => ({ what, state: 'failed', detail });

/** Returns the state of a number that should not be low. */
export function stateOf(value: number, limits: { readonly failed: number; readonly warning: number }): State {
  if (value < limits.failed) return 'failed';
  return value < limits.warning ? 'warning' : 'ok';
}

export const check: Command = {
  name: 'check',
  summary:
    'Look at the configuration, the database, the free space, the relay, the settings it serves, its certificates and its servers',
  async runAlone(environment) {
    const findings = await findingsOf(environment);
    const marks = { ok: 'ok      ', warning: 'warning ', failed: 'FAILED  ' } as const;
    const hasFailed = findings.some(({ state }) => state === 'failed');
    return {
      json: findings,
      text: findings.map(({ what, state, detail }) => `${marks[state]} ${what}: ${detail}`).join('\n'),
      ...(hasFailed ? { hasFailed } : {}),
    };
  },
};

async function findingsOf(environment: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    return [failed('configuration', reason(error))];
  }
  const behindProxy = config.trustProxy && config.keysOrigin === null;
  const configuration = behindProxy
    ? failed('configuration', 'KEYS_ORIGIN must be set behind a proxy.')
    : ok('configuration', 'every setting is understood');
  const all = [
    database(config),
    space(config),
    secrets(config),
    Promise.resolve(webClient(config)),
    relay(config),
    // A relay without a client serves the API alone.
    ...(existsSync(pageIn(config)) ? [operatorSettings(config), frameOfKeys(config)] : []),
    ...certificates(config),
    ...servers(config),
  ];
  return [configuration, ...(await Promise.all(all))];
}

async function database(config: Config): Promise<Finding> {
  try {
    const beside = await openBeside(config);
    try {
      const damage = await beside.damage();
      const bytes = size(await beside.size());
      return damage === null
        ? ok('database', `of this version, ${bytes}`)
        : failed('database', `damaged: ${damage.split('\n')[0]}. Restore a backup.`);
    } finally {
      await beside.close();
    }
  } catch (error) {
    // The address of the database has a password in it, which only our own sentences are known to leave out.
    return failed('database', error instanceof StartupError ? error.message : "it can't be read");
  }
}

async function space({ dataDir }: Config): Promise<Finding> {
  try {
    const { free, whole } = await diskSpace(dataDir);
    const detail = `${size(free)} of ${size(whole)} are free in ${dataDir}`;
    return { what: 'space', state: stateOf(free, freeSpace), detail };
  } catch (error) {
    return failed('space', reason(error));
  }
}

async function secrets({ dataDir }: Config): Promise<Finding> {
  const file = path.join(dataDir, 'secrets.json');
  const found = await stat(file).catch(() => null);
  if (found === null)
    return failed('secrets', `there is no ${file}; the relay makes it when it first starts`);
  const isOpen = (found.mode & 0o077) !== 0;
  return isOpen
    ? failed('secrets', `others can read ${file}: chmod 600 it`)
    : ok('secrets', 'the relay’s alone');
}

const pageIn = ({ webDir }: Config) => path.join(webDir, 'app', 'index.html');

function webClient(config: Config): Finding {
  const { webDir } = config;
  return existsSync(pageIn(config))
    ? ok('web client', `in ${webDir}`)
    : { what: 'web client', state: 'warning', detail: `there is none in ${webDir}: npm run build makes it` };
}

/** The name by which this machine reaches what listens at a host. */
function reachedAt(host: string): string {
  return ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
}

async function relay({ host, port }: Config): Promise<Finding> {
  const name = reachedAt(host);
  const address = `http://${name}:${port}/readyz`;
  try {
    const { status } = await fetch(address, { signal: AbortSignal.timeout(patience) });
    return status === 200
      ? ok('relay', `ready at ${name}:${port}`)
      : failed('relay', `it answers at ${name}:${port} that it is not ready (${status})`);
  } catch {
    return failed('relay', `nothing answers at ${name}:${port}`);
  }
}

/** The relay reads the settings as it starts, and a proxy may have kept others: browsers have to be told those of the file. */
async function operatorSettings(config: Config): Promise<Finding> {
  const what = 'operator settings';
  const { app } = addressesOf(config);
  let expected: string;
  try {
    expected = JSON.stringify(await operatorOf(config));
  } catch (error) {
    return failed(what, reason(error));
  }
  const answer = await answerAt(`${app}${operatorPath}`);
  if (answer === null) return failed(what, `nothing answers at ${app}`);
  if (answer.status !== 200) return failed(what, `${app}${operatorPath} answers ${answer.status}`);
  return answer.text === expected
    ? ok(what, `served at ${app} as configured`)
    : failed(what, `${app}${operatorPath} is not as configured: restart the relay`);
}

async function frameOfKeys(config: Config): Promise<Finding> {
  const what = 'frame of the keys';
  const { keys } = addressesOf(config);
  const answer = await answerAt(`${keys}/keys`);
  if (answer === null) return failed(what, `nothing answers at ${keys}`);
  return answer.status === 200
    ? ok(what, `served at ${keys}`)
    : failed(what, `${keys}/keys answers ${answer.status}`);
}

/** The addresses of both origins: those that browsers know, or without them this machine's. */
function addressesOf({ host, keysOrigin, keysPort, port }: Config): { app: string; keys: string } {
  const app = keysOrigin === null ? null : appOriginOf(keysOrigin);
  if (app !== null && keysOrigin !== null) return { app, keys: keysOrigin };
  const name = reachedAt(host);
  return { app: `http://${name}:${port}`, keys: `http://${name}:${keysPort}` };
}

async function answerAt(address: string): Promise<{ status: number; text: string } | null> {
  try {
    const answer = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(patience) });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
}

function certificates({ keysOrigin }: Config): Promise<Finding>[] {
  if (keysOrigin === null) return [];
  const origins = [appOriginOf(keysOrigin), keysOrigin].filter((origin) => origin !== null);
  return origins.map((origin) => {
    const { protocol, hostname, port } = new URL(origin);
    return protocol === 'https:'
      ? certificate(origin, hostname, port === '' ? 443 : Number(port))
      : Promise.resolve(failed(origin, 'browsers offer no cryptography to a page that came without TLS'));
  });
}

function certificate(what: string, host: string, port: number): Promise<Finding> {
  const socket = connect({ host, port, servername: host, timeout: patience });
  return answerOf(socket, 'secureConnect', {
    answered: () => {
      const left = Math.floor((Date.parse(socket.getPeerCertificate().valid_to) - Date.now()) / day);
      return {
        what,
        state: stateOf(left, certificateDays),
        detail: `its certificate is good for ${left} days`,
      };
    },
    failed: (why) => failed(what, why ?? 'it does not answer'),
  });
}

function servers({ redis, smtp }: Config): Promise<Finding>[] {
  const nodes = (redis?.urls ?? []).map((url) => new URL(url));
  return [
    ...nodes.map(({ hostname, port }) => reach('Redis', hostname, port === '' ? 6379 : Number(port))),
    ...(smtp === null ? [] : [reach('mail server', smtp.host, smtp.port)]),
  ];
}

/** Finds out whether a server takes connections; no name or password is sent. */
function reach(what: string, host: string, port: number): Promise<Finding> {
  return answerOf(connectTcp({ host, port, timeout: patience }), 'connect', {
    answered: () => ok(what, `takes connections at ${host}:${port}`),
    failed: (why) => failed(what, why ?? `${host}:${port} does not answer`),
  });
}

/** The findings for a socket that has connected, and for one that has not. */
interface Answers {
  readonly answered: () => Finding;
  /** @param why null if its patience has ended */
  readonly failed: (why: string | null) => Finding;
}

function answerOf(
  socket: Socket,
  connected: 'connect' | 'secureConnect',
  { answered, failed: failedBy }: Answers,
): Promise<Finding> {
  return new Promise<Finding>((resolve) => {
    socket.on(connected, () => resolve(answered()));
    socket.on('timeout', () => resolve(failedBy(null)));
    socket.on('error', (error) => resolve(failedBy(error.message)));
  }).finally(() => socket.destroy());
}

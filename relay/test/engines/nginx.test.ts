import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RestartableRelay, startRestartable } from '../crash/restartable.ts';
import { crashUnderLoad } from '../crash/story.ts';
import { temporaryFolder } from '../helpers.ts';
import { type BuiltProgram, buildProgram } from '../program.ts';
import { createDatabase, type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { type Nginx, startNginx } from './nginx.ts';

const crashes = Number(process.env.CRASHES ?? 6);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);

let program: BuiltProgram;
let dataDir: string;
let postgres: PostgresServer;
let redis: RedisServer;
let relays: RestartableRelay[];
let nginx: Nginx;
const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;

beforeAll(async () => {
  program = await buildProgram();
  dataDir = await temporaryFolder();
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  await createDatabase(postgres.url('postgres'), 'behind_nginx');
  const environment = {
    DATA_DIR: dataDir,
    WEB_DIR: dataDir,
    DATABASE_URL: postgres.url('behind_nginx'),
    DATABASE_POOL_SIZE: '5',
    REDIS_URL: redis.url,
    TRUST_PROXY: 'true',
    KEYS_ORIGIN: 'https://keys.localhost',
  };
  relays = [];
  for (let count = 0; count < 3; count += 1) relays.push(await startRestartable(program, environment));
  nginx = await startNginx(relays.map(({ url }) => Number(new URL(url).port)));
  // Nobody else has signed its certificate, which the first test checks.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
}, 180_000);
afterAll(async () => {
  if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  await nginx.close();
  await program.killAll();
  await Promise.all([postgres.remove(), redis.remove(), program.remove()]);
  await rm(dataDir, { recursive: true });
});

it('nginx, by the page that hosts copy, speaks TLS with its own certificate and leads to the relays', async () => {
  const socket = connect({
    host: 'localhost',
    port: Number(new URL(nginx.url).port),
    servername: 'localhost',
    ca: nginx.certificate,
    rejectUnauthorized: true,
  });
  await once(socket, 'secureConnect');
  expect([socket.authorized, socket.getProtocol()]).toEqual([true, 'TLSv1.3']);
  socket.destroy();
  const answer = await fetch(`${nginx.url}/api/version`);
  expect(answer.status).toBe(200);
  // The relay has believed the proxy that the browser came by TLS.
  expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=/);
});

it(
  `every acknowledged message is there once, and every client comes back, after ${crashes} kills of one of three relays behind nginx (CRASH_SEED=${seed})`,
  async () => {
    let count = 0;
    const crash = async () => {
      const one = relays[count % relays.length];
      count += 1;
      await one?.end('SIGKILL');
      await one?.start();
    };
    const outcome = await crashUnderLoad({ url: nginx.url, crash }, { seed, crashes, chats: 4 });
    expect(outcome.problems).toEqual([]);
    expect(outcome.acknowledged).toBeGreaterThan(crashes);
  },
  90_000 + crashes * 15_000,
);

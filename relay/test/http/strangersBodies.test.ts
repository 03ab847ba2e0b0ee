import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { strangersBodyTimeout } from '../../src/http/strangersBodies.ts';
import { waitingLimits } from '../../src/realtime/waitingBytes.ts';
import { call, signUpBody, startTestRelay, type TestRelay } from '../helpers.ts';

let relay: TestRelay;
const sockets: Socket[] = [];
beforeEach(async () => {
  relay = await startTestRelay({ environment: { RATE_LIMITS: 'off' } });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await relay.close();
});

const length = 60_000;

/** A call whose body has begun to come, and what is answered to it. */
function halfSent(path: string, sent: number, total = length) {
  const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
  sockets.push(socket);
  socket.on('error', () => {});
  const state = { socket, answer: '' };
  socket.on('data', (chunk: Buffer) => {
    state.answer += chunk.toString();
  });
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${total}\r\n\r\n`,
  );
  socket.write(' '.repeat(sent));
  return state;
}

const answered = async ({ socket, answer }: ReturnType<typeof halfSent>) => {
  if (answer === '') await once(socket, 'data');
};

describe('bodies of which nobody knows whose they are', () => {
  it.each(['/api/login', '/api/recovery', '/api/nothing-here'])(
    'have a bound together, beyond which the largest are told to come again, and short ones are not: %s',
    async (path) => {
      const short = halfSent(path, 1000, 2000);
      const most = Math.ceil(waitingLimits.ofAll / length);
      const large: ReturnType<typeof halfSent>[] = [];
      for (let index = 0; index < most + 20; index += 1) large.push(halfSent(path, length - 1));
      await vi.waitFor(() => expect(large.filter(({ answer }) => answer !== '').length).toBeGreaterThan(15), {
        timeout: 60_000,
      });
      for (const { answer } of large.filter((one) => one.answer !== '')) {
        expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 5\r\n[^]*"code":"unavailable"/i);
        expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      }
      expect(large.filter(({ answer }) => answer === '').length).toBeGreaterThan(most / 2);
      expect(short.answer).toBe('');
      // Somebody who signs up meanwhile does so.
      expect((await call(relay, 'POST', '/register', { body: JSON.stringify(signUpBody()) })).status).toBe(
        201,
      );
      short.socket.write(' '.repeat(1000));
      await answered(short);
      expect(short.answer).toMatch(/^HTTP\/1\.1 4/);
    },
  );

  it('count by the pieces that they come in, too', async () => {
    const one = halfSent('/api/login', 1);
    await vi.waitFor(() => expect(relay.relay.waiting.bytes).toBeGreaterThan(256));
    one.socket.destroy();
    await vi.waitFor(() => expect(relay.relay.waiting.bytes).toBe(0));
  });

  it('come within seconds, or are refused', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const slow = halfSent('/api/login', 10);
      await vi.waitUntil(() => relay.relay.waiting.bytes > 0, { timeout: 60_000 });
      vi.advanceTimersByTime(strangersBodyTimeout - 1);
      expect(relay.relay.waiting.bytes).toBeGreaterThan(0);
      vi.advanceTimersByTime(1);
      await answered(slow);
      expect(slow.answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"malformed"/);
      expect(relay.relay.waiting.bytes).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('leave the connection to the next call where nobody read them', async () => {
    const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const body = 'a'.repeat(1_000_000);
    socket.write(`GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await vi.waitFor(() => expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2), { timeout: 15_000 });
    expect(relay.relay.waiting.bytes).toBe(0);
  });
});

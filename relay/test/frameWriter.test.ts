import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { FrameWriter } from '../src/realtime/frameWriter.ts';

it('writes messages that a WebSocket reads, of every form of length, among what the WebSocket itself sends', async () => {
  const messages = [1, 125, 126, 127, 65_535, 65_536, 200_000].map((length) => randomBytes(length));
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on('upgrade', (request, transport, head) => {
    sockets.handleUpgrade(request, transport, head, (socket) => {
      const frames = new FrameWriter(transport);
      for (const message of messages) {
        frames.write(message);
        socket.send('between');
      }
      socket.close(1000, 'after all of it');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const received: Buffer[] = [];
  client.on('message', (data: Buffer) => received.push(data));
  const [code, reason] = (await once(client, 'close')) as [number, Buffer];
  server.close();

  expect([code, reason.toString()]).toEqual([1000, 'after all of it']);
  const written = messages.flatMap((message) => [message, Buffer.from('between')]);
  expect(received.length).toBe(written.length);
  // Compared by `equals`: a matcher's report of such lengths takes seconds.
  expect(received.every((message, index) => message.equals(written[index] ?? Buffer.of()))).toBe(true);
});

/** The system calls that would be made: how many buffers each takes. */
function recordingTransport() {
  const calls: number[] = [];
  const transport = new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      calls.push(1);
      done();
    },
    writev(chunks, done) {
      calls.push(chunks.length);
      done();
    },
  });
  return { transport, calls };
}

it('writes what comes in one turn of the event loop at once, and no more than 64 KiB of it', async () => {
  const { transport, calls } = recordingTransport();
  const frames = new FrameWriter(transport);
  for (let count = 0; count < 5; count += 1) frames.write(Buffer.alloc(100));
  await Promise.resolve().then(() => frames.write(Buffer.alloc(100)));
  expect(calls).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([6]);
  frames.write(Buffer.alloc(70_000));
  expect(calls).toEqual([6, 2]);
  frames.write(Buffer.alloc(10));
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([6, 2, 1]);
});

// Counts the bytes over the wire between one browser and the relay: everything, with all headers.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * Stands between one browser and the relay, as a SOCKS proxy (RFC 1928): the browser sees the relay's own addresses, of
 * which the keys have one.
 */
export async function startWire() {
  const bytes = { up: 0, down: 0 };
  const sockets = new Set();
  const keep = (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    // The other end tells by closing.
    socket.on('error', () => undefined);
  };
  const server = createServer((near) => {
    keep(near);
    agree(near).then(
      (port) => pass(near, port),
      () => near.destroy(),
    );
  });
  function pass(near, port) {
    const far = connect(port, '127.0.0.1');
    keep(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.on('data', (data) => {
      bytes.up += data.length;
      far.write(data);
    });
    far.on('data', (data) => {
      bytes.down += data.length;
      near.write(data);
    });
    near.resume();
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** As Playwright takes it: for this machine's own addresses too. */
    proxy: { server: `socks5://127.0.0.1:${server.address().port}`, bypass: '<-loopback>' },
    bytes: () => ({ ...bytes }),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Takes a request to connect. @returns the port that it names */
async function agree(near) {
  const [, methods] = await take(near, 2);
  await take(near, methods);
  near.write(Buffer.of(5, 0));
  const [, , , type] = await take(near, 4);
  const name = { 1: 4, 4: 16 }[type] ?? (await take(near, 1))[0];
  await take(near, name);
  const port = (await take(near, 2)).readUInt16BE();
  near.write(Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0));
  return port;
}

/** Reads so many bytes, and leaves the others. */
async function take(near, length) {
  for (;;) {
    const taken = near.read(length);
    if (taken !== null) return taken;
    if (near.readableEnded || near.destroyed) throw new Error('the browser has hung up');
    await Promise.race([once(near, 'readable'), once(near, 'close')]);
  }
}

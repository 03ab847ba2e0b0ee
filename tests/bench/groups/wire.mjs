// Counts the bytes over the wire between one browser and the relay: everything, with all headers.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Stands between one browser and the relay. */
export async function startWire(relayPort) {
  const bytes = { up: 0, down: 0 };
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect(relayPort, '127.0.0.1');
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
      // The other end tells by closing.
      socket.on('error', () => undefined);
    }
    near.on('data', (data) => {
      bytes.up += data.length;
      far.write(data);
    });
    far.on('data', (data) => {
      bytes.down += data.length;
      near.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${server.address().port}`,
    bytes: () => ({ ...bytes }),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A port that leads to a server, and to another one once it is moved, as the address of a database does in a cluster. */
export interface Address {
  readonly port: number;
  /** Breaks what is open, and leads to this port of this machine from now on. */
  moveTo(port: number): void;
  close(): Promise<void>;
}

export async function openAddress(first: number): Promise<Address> {
  let target = first;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    moveTo(port) {
      target = port;
      breakAll();
    },
    async close() {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}

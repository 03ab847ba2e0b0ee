import type { WebSocket } from 'ws';

/** Resolves when a socket is closed, which it may be already. */
export async function socketClosed(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
}

import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:http';

/** A server of a stranger's, which counts what reaches it, on a port of TCP and the same one of UDP. */
export class Stranger {
  readonly heard: string[] = [];
  readonly #server: Server;
  readonly #datagrams: Socket;

  constructor() {
    this.#server = createServer((request, response) => {
      // A browser asks for this by itself wherever it shows a page.
      if (request.url !== '/favicon.ico') this.heard.push(`${request.method} ${request.url}`);
      response
        .writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/javascript' })
        .end('1;');
    });
    this.#server.on('upgrade', (request, socket) => {
      this.heard.push(`socket ${request.url}`);
      socket.destroy();
    });
    this.#datagrams = createSocket('udp4');
    this.#datagrams.on('message', () => this.heard.push('datagram'));
  }

  /** The ways by which it was reached, each once, in alphabetical order. */
  ways(): string[] {
    const named = this.heard.map((line) => /\?(\w+)/.exec(line)?.[1] ?? line);
    return [...new Set(named)].toSorted();
  }

  /** @returns its address, whose port of UDP is a STUN server's */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await new Promise<void>((resolve) => this.#datagrams.bind(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    this.#datagrams.close();
  }
}

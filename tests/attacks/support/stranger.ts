import { createServer, type Server } from 'node:http';

/** A server of a stranger's, which counts what reaches it. */
export class Stranger {
  readonly heard: string[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      this.heard.push(`${request.method} ${request.url}`);
      response
        .writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/javascript' })
        .end('1;');
    });
    this.#server.on('upgrade', (request, socket) => {
      this.heard.push(`socket ${request.url}`);
      socket.destroy();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:http';

/** Answers a STUN request with the address that it came from (RFC 8489, sections 5 and 14.2). */
function bindingAnswer(request: Buffer, address: string, port: number): Buffer {
  const cookie = request.subarray(4, 8);
  const from = Buffer.from([port >> 8, port & 0xff, ...address.split('.').map(Number)]);
  const key = [...cookie.subarray(0, 2), ...cookie];
  const answer = [0x01, 0x01, 0, 12, ...request.subarray(4, 20), 0, 0x20, 0, 8, 0, 1];
  return Buffer.from([...answer, ...from.map((byte, at) => byte ^ (key[at] ?? 0))]);
}

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
    this.#datagrams.on('message', (request, { address, port }) => {
      this.heard.push('datagram');
      // A browser that gets no answer asks for ten seconds more.
      this.#datagrams.send(bindingAnswer(request, address, port), port, address);
    });
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

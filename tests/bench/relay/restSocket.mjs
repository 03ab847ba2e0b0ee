// One kept-alive HTTP/1.1 connection that posts messages, one at a time.
import { connect } from 'node:net';

export class RestSocket {
  #socket;
  #token;
  #received = '';
  #waiting = null;

  constructor({ port, token }) {
    this.#token = token;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the connection ended')));
  }

  /** @returns {Promise<void>} when the relay has answered 201 */
  post(path, body) {
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${this.#token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  close() {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #read(chunk) {
    this.#received += chunk;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const answer = this.#received;
    const waiting = this.#waiting;
    this.#received = '';
    this.#waiting = null;
    if (answer.startsWith('HTTP/1.1 201')) waiting?.resolve();
    else waiting?.reject(new Error(answer.slice(0, 500)));
  }
}

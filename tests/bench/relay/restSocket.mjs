// One kept-alive HTTP/1.1 connection that posts messages or polls, one at a time.
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
    return this.#answer(201).then(() => undefined);
  }

  /**
   * @param etag of the answer before; null to read it whole
   * @returns {Promise<string>} the entity tag of the answer, which is 304 if that one was given
   */
  async poll(path, etag) {
    const condition = etag === null ? '' : `If-None-Match: ${etag}\r\n`;
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${this.#token}\r\n${condition}\r\n`,
      'latin1',
    );
    const answer = await this.#answer(etag === null ? 200 : 304);
    return /etag: (\S+)/i.exec(answer)?.[1] ?? '';
  }

  close() {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #answer(status) {
    return new Promise((resolve, reject) => {
      this.#waiting = { status, resolve, reject };
    });
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
    if (answer.startsWith(`HTTP/1.1 ${waiting?.status}`)) waiting?.resolve(answer);
    else waiting?.reject(new Error(answer.slice(0, 500)));
  }
}

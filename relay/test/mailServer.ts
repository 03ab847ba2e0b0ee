import { createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header lines and body as they came, without the encodings of RFC 2047 and of quoted-printable. */
  readonly text: string;
}

/** A mail server as far as RFC 5321 goes for one that takes mails and keeps them. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** How it answers RCPT: null takes whom it is for. */
  refusal: string | null = null;
  /** True leaves connections without an answer. */
  isSilent = false;
  /** True answers with a line after the other, none of which is the last. */
  isDripping = false;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    if (!this.isSilent) this.#serve(socket);
  });

  /** The code in the newest mail to an address; null if that mail has none. */
  codeFor(address: string): string | null {
    const mail = this.received.findLast(({ to }) => to[0] === address);
    return /\b\d{8}\b/.exec(mail?.text.split('\n\n')[1] ?? '')?.[0] ?? null;
  }

  /** @returns its port on this machine */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Ends every connection, as a server that goes away. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async close(): Promise<void> {
    this.hangUp();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    let from = '';
    let to: string[] = [];
    let data: string[] | null = null;
    let rest = '';
    const commands: Readonly<Record<string, (address: string) => string>> = {
      MAIL: (address) => {
        [from, to] = [address, []];
        return '250 yes';
      },
      RCPT: (address) => {
        if (this.refusal !== null) return `550 ${this.refusal} <${address}>`;
        to.push(address);
        return '250 yes';
      },
      DATA: () => {
        data = [];
        return '354 go on';
      },
      QUIT: () => '221 bye',
    };
    const answerTo = (line: string): string | null => {
      if (data === null) {
        const command = commands[line.slice(0, 4).toUpperCase()];
        return command?.(/<([^>]*)>/.exec(line)?.[1] ?? '') ?? '250 yes';
      }
      if (line !== '.') {
        data.push(line.replace(/^\./, ''));
        return null;
      }
      this.received.push({ from, to, text: decoded(data.join('\n')) });
      data = null;
      return '250 taken';
    };
    const drip = () => {
      const timer = setInterval(() => socket.write('250-and more\r\n'), 5);
      socket.once('close', () => clearInterval(timer));
    };
    const say = (line: string | null) => line === null || socket.write(`${line}\r\n`);
    say('220 here');
    socket.on('data', (chunk) => {
      const lines = `${rest}${chunk.toString('utf8')}`.split('\r\n');
      rest = lines.pop() ?? '';
      if (this.isDripping) drip();
      else for (const line of lines) say(answerTo(line));
    });
  }
}

function decoded(mail: string): string {
  const bytes = (text: string) =>
    text.replaceAll(/(?:=[\dA-F]{2})+/g, (run) =>
      Buffer.from(run.replaceAll('=', ''), 'hex').toString('utf8'),
    );
  return bytes(
    mail
      .replaceAll(/\?=\s+=\?UTF-8\?Q\?/gi, '')
      .replaceAll(/=\?UTF-8\?Q\?(.*?)\?=/gi, (_all, word: string) => word.replaceAll('_', ' '))
      .replaceAll(/=\n/g, '')
      .replaceAll(/\n[\t ]+/g, ' '),
  );
}

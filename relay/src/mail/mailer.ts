import { connect, type Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { createTransport } from 'nodemailer';
import type { Smtp } from '../config.ts';
import { errorCode } from '../errorCode.ts';
import type { Metrics } from '../metrics/metrics.ts';

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  /** Plain text, lines apart by `\n`. */
  readonly text: string;
}

/** Sends mails by the operator's server, one after the other, and keeps nobody waiting for it. */
export interface Mailer {
  /** Takes a mail and returns at once. One that can't be sent is counted, and not tried again. */
  send(mail: Mail): void;
  /** Gives up what waits, and resolves once the mail under way has been sent or has failed. */
  close(): Promise<void>;
}

export interface MailerDependencies {
  readonly smtp: Smtp;
  readonly log: FastifyBaseLogger;
  readonly metrics: Metrics;
  /** Milliseconds that one mail may take; a minute unless given. */
  readonly timeout?: number;
}

/** Milliseconds that each step of a server may take, and one mail in all: a server that drips bytes takes no step too long. */
const stepTimeout = 10_000;
const mailTimeout = 60_000;
/** Mails that may wait for a slow server, so that it doesn't fill the memory. */
const waitingMax = 1000;

export function createMailer({ smtp, log, metrics, timeout = mailTimeout }: MailerDependencies): Mailer {
  const { auth, from, host, port, secure } = smtp;
  const transport = createTransport({
    host,
    port,
    secure,
    // Passwords and addresses cross a network under TLS alone. A server on this machine needs none.
    requireTLS: !secure && !isThisMachine(host),
    ...(auth === null ? {} : { auth }),
    greetingTimeout: stepTimeout,
    socketTimeout: stepTimeout,
    getSocket,
    // A mail is text: neither a file nor an address is ever read for it.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  /** The connection of the mail under way: mails go one after the other. */
  let socket: Socket | null = null;
  let isClosed = false;
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();

  function getSocket(_options: unknown, answer: (error: Error | null, connected?: object) => void): void {
    const connection = connect({ host, port, timeout: stepTimeout });
    socket = connection;
    const fail = (error: Error) => answer(error);
    const giveUp = () => connection.destroy(new Error('The mail server did not answer.'));
    connection.once('error', fail).once('timeout', giveUp);
    connection.once('connect', () => {
      connection.off('error', fail).off('timeout', giveUp).setTimeout(0);
      answer(null, { connection });
    });
  }

  async function deliver({ subject, text, to }: Mail): Promise<void> {
    if (isClosed) return metrics.mailed('dropped');
    const ending = setTimeout(() => socket?.destroy(), timeout);
    try {
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        envelope: { from, to: [to] },
        subject,
        text,
        // RFC 3834, section 5: nobody's answering machine answers it.
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      metrics.mailed('sent');
    } catch (error) {
      metrics.mailed('failed');
      // The server's words may have the address in them.
      log.warn({ code: errorCode(error) ?? 'unknown', status: statusOf(error) }, 'mail not sent');
    } finally {
      clearTimeout(ending);
      socket?.destroy();
    }
  }

  return {
    send(mail) {
      if (waiting >= waitingMax) return metrics.mailed('dropped');
      waiting += 1;
      last = last.then(() => deliver(mail)).finally(() => void (waiting -= 1));
    },
    async close() {
      isClosed = true;
      await last;
      transport.close();
    },
  };
}

const isThisMachine = (host: string) =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);

/** The reply code of RFC 5321 with which a server refused, or null. */
function statusOf(error: unknown): number | null {
  return error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
    ? error.responseCode
    : null;
}

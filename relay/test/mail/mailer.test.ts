import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMailer, type Mailer } from '../../src/mail/mailer.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { eventually } from '../eventually.ts';
import { MailServer } from '../mailServer.ts';

let server: MailServer;
let mailer: Mailer;
let metrics: Metrics;
beforeEach(async () => {
  server = new MailServer();
  metrics = new Metrics();
  const port = await server.listen();
  const smtp = { host: '127.0.0.1', port, secure: false, auth: null, from: 'relay@example.org' };
  mailer = createMailer({ smtp, log: pino({ enabled: false }), metrics, timeout: 200 });
});
afterEach(async () => {
  server.hangUp();
  await mailer.close();
  await server.close();
});

it('a mail server that drips bytes holds no mail up for longer than one mail may take', async () => {
  const mail = { to: 'aino@example.org', subject: 'Hello', text: 'Hello.' };
  server.isDripping = true;
  mailer.send(mail);
  await eventually(async () =>
    expect(await metrics.registry.metrics()).toContain('sinetti_mails_total{outcome="failed"} 1'),
  );
  server.isDripping = false;
  mailer.send(mail);
  await eventually(() => expect(server.received.map(({ to }) => to)).toEqual([[mail.to]]));
});

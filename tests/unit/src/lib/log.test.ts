import { describe, expect, it } from 'vitest';
import { createLog } from '#src/lib/log.ts';

function capture() {
  const lines: string[] = [];
  const sink = {
    warn: (line: string) => lines.push(`warn ${line}`),
    error: (line: string) => lines.push(`error ${line}`),
  };
  return { lines, log: createLog(sink) };
}

describe("the client's log", () => {
  it('names a failure by pattern, status and code', () => {
    const { lines, log } = capture();
    log.warn('permission-error', {
      method: 'POST',
      route: '/messages/user/{id}',
      status: 403,
      code: 'not-a-contact',
    });
    expect(lines).toEqual([
      'warn permission-error method="POST" route="/messages/user/{id}" status=403 code="not-a-contact"',
    ]);
  });

  it.each([
    ['a user id in the path', { route: '/messages/user/0f8fad5b-d9cb-469f-a165-70867728950e' }],
    ['a query', { route: '/users/search?q=anna' }],
    ['a token', { code: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln' }],
    ['an email', { hint: 'anna@example.org' }],
    ['an id', { code: '0f8fad5b-d9cb-469f-a165-70867728950e' }],
    ['base64', { hint: 'q83vEjRWeJA' }],
    ['a method that is none', { method: 'secret sentence' }],
  ])('replaces %s', (_name, fields) => {
    const { lines, log } = capture();
    log.error('background-failure', fields);
    const [value] = Object.values(fields);
    expect(lines[0]).toContain('[redacted]');
    expect(lines[0]).not.toContain(value);
  });

  it('lets an MQTT reason code through', () => {
    const { lines, log } = capture();
    log.warn('realtime-closed', { code: '0x87' });
    expect(lines[0]).toContain('0x87');
  });
});

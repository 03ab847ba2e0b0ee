import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPurgeJob, oldInvitationLifetime } from '../../src/jobs/purge.ts';
import { base64Url, call, signUp, signUpBody, startTestRelay, type TestRelay } from '../helpers.ts';
import { done, run } from './operator.ts';

const day = 24 * 60 * 60 * 1000;
let relay: TestRelay;
let ahead = 0;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => Date.now() + ahead });
});
afterAll(() => relay.close());
afterEach(async () => {
  ahead = 0;
  await done(relay, 'sign-up', 'open');
});

interface Made {
  readonly id: string;
  readonly link: string;
  readonly uses: number;
  readonly expires_at: string;
}

const make = (...words: string[]) => done<Made>(relay, 'invitations', 'create', ...words);
const codeIn = ({ link }: Made) => link.split('#invitation=')[1] ?? '';
const register = async (overrides: Record<string, unknown> = {}) => {
  const { status, body } = await call<{ code?: string }>(relay, 'POST', '/register', {
    body: signUpBody(overrides),
  });
  return status === 201 ? 'created' : body.code;
};
const invitations = () =>
  done<{ id: string; state: string; used: number; note: string }[]>(relay, 'invitations', 'list');
const stateOf = async ({ id }: Made) => (await invitations()).find((one) => one.id === id);

describe('signing up', () => {
  it('is open to everybody until the operator says otherwise, and says so at /version', async () => {
    const mode = async () => (await call(relay, 'GET', '/version')).body;
    expect(await mode()).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/), sign_up: 'open' });
    for (const word of ['invitation', 'closed', 'open']) {
      expect(await done(relay, 'sign-up', word)).toEqual({ sign_up: word });
      expect(await mode()).toMatchObject({ sign_up: word });
      expect(await done(relay, 'sign-up')).toEqual({ sign_up: word });
    }
    expect(await run(relay.environment, 'sign-up', 'maybe')).toMatchObject({ status: 2, out: '' });
    expect(await done(relay, 'sign-up')).toEqual({ sign_up: 'open' });
    expect(await register()).toBe('created');
  });

  it('that is closed takes nobody, with an invitation neither, and keeps whom it has', async () => {
    const person = await signUp(relay);
    const made = await make();
    await done(relay, 'sign-up', 'closed');
    expect(await register()).toBe('sign-up-closed');
    expect(await register({ invitation: codeIn(made) })).toBe('sign-up-closed');
    const body = { email: person.username, password: person.password };
    expect((await call(relay, 'POST', '/login', { body })).status).toBe(200);
    expect(await stateOf(made)).toMatchObject({ state: 'good', used: 0 });
  });

  it('by invitation takes whoever has one, as often as it is good for', async () => {
    await done(relay, 'sign-up', 'invitation');
    expect(await register()).toBe('invitation-refused');
    expect(await register({ invitation: base64Url(16) })).toBe('invitation-refused');
    expect(await register({ invitation: 'short' })).toBe('invalid-request');
    const made = await make('--uses', '2', '--note', 'the choir');
    const invitation = codeIn(made);
    expect([await register({ invitation }), await register({ invitation })]).toEqual(['created', 'created']);
    expect(await register({ invitation })).toBe('invitation-refused');
    expect(await stateOf(made)).toMatchObject({ state: 'used', used: 2, note: 'the choir' });
  });

  it('by the last use of an invitation takes one of those who come at once', async () => {
    await done(relay, 'sign-up', 'invitation');
    const invitation = codeIn(await make());
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => register({ invitation })));
    const refused = outcomes.filter((outcome) => outcome === 'invitation-refused');
    expect([outcomes.includes('created'), refused.length]).toEqual([true, 3]);
  });

  it('that fails for a taken name uses no invitation up', async () => {
    const person = await signUp(relay);
    await done(relay, 'sign-up', 'invitation');
    const made = await make();
    expect(await register({ username: person.username, invitation: codeIn(made) })).toBe('username-taken');
    expect(await register({ email: person.email, invitation: codeIn(made) })).toBe('email-taken');
    expect(await stateOf(made)).toMatchObject({ state: 'good', used: 0 });
  });

  it('takes no invitation that has expired or was revoked', async () => {
    await done(relay, 'sign-up', 'invitation');
    const [short, revoked] = [await make('--days', '1'), await make()];
    expect(await done(relay, 'invitations', 'revoke', revoked.id)).toEqual({ id: revoked.id, revoked: true });
    expect(await register({ invitation: codeIn(revoked) })).toBe('invitation-refused');
    expect((await stateOf(revoked))?.state).toBe('revoked');
    ahead = day + 1000;
    expect(await register({ invitation: codeIn(short) })).toBe('invitation-refused');
    expect(await run(relay.environment, 'invitations', 'revoke', 'none')).toMatchObject({
      status: 1,
      err: 'There is no invitation none.\n',
    });
  });
});

describe('an invitation', () => {
  it('leads to the page of the app, with a code that is stored nowhere and sent to no server by a link', async () => {
    const { out } = await run(
      { ...relay.environment, TRUST_PROXY: 'true', KEYS_ORIGIN: 'https://keys.chat.example.org' },
      'invitations',
      'create',
    );
    const [, link = ''] = /^link +(\S+)$/m.exec(out) ?? [];
    expect(link).toMatch(/^https:\/\/chat\.example\.org\/signup#invitation=[\w-]{22}$/);
    const stored = JSON.stringify(
      await relay.relay.database.db.selectFrom('invitations').selectAll().execute(),
    );
    expect(stored).not.toContain(link.split('=')[1]);
  });

  it('is listed for a month after its end', async () => {
    const made = await make('--days', '1');
    const job = createPurgeJob({
      db: relay.relay.database.db,
      clock: () => Date.now() + ahead,
      log: relay.relay.app.log,
    });
    ahead = day + oldInvitationLifetime - 60_000;
    await job.run();
    expect(await stateOf(made)).toBeDefined();
    ahead += 120_000;
    await job.run();
    expect(await stateOf(made)).toBeUndefined();
  });

  it.each([
    ['--uses', '0'],
    ['--days', 'forever'],
    ['--note', 'x'.repeat(101)],
  ])('is not made with %s %s', async (...words) => {
    expect(await run(relay.environment, 'invitations', 'create', ...words)).toMatchObject({
      status: 2,
      out: '',
    });
  });
});

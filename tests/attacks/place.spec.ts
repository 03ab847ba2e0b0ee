import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../e2e/browser.mjs';
import { becomeContacts, Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test } from '../e2e/support/test.ts';

/** Opens the browser of a profile's folder, as Alice left it. */
function open(folder: string, baseURL: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, {
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: chromiumArgs,
    baseURL,
    reducedMotion: 'reduce',
  });
}

/**
 * Collects what leaves with content that only a device could have encrypted: requests by their paths, since a browser shows no body of
 * theirs, and publications over MQTT.
 */
function sendings(person: Person): string[] {
  const seen: string[] = [];
  person.page.on('request', (request) => {
    const [, what] = /\/api\/.*(commits|receipt|messages\/user\/[^/]+)$/.exec(request.url()) ?? [];
    if (what !== undefined && request.method() !== 'GET') seen.push(what.replace(/\/.*/, ''));
  });
  person.page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      if (payload.toString('latin1').includes('"content":"')) seen.push('messages');
    }),
  );
  return seen;
}

async function isAskedWhy({ page }: Person): Promise<void> {
  await expect(page.getByText(/was copied, or restored from an older copy/).first()).toBeVisible();
  await expect(page).toHaveURL(/\/login/);
}

/** Logs in where the page asks for it, and is told that the browser is another device. */
async function beginsAnew(alice: Person): Promise<void> {
  await alice.logIn();
  await expect(alice.toast('It is a new device now')).toBeVisible();
}

interface Places {
  /** Folders of profiles. */
  readonly profile: string;
  readonly copy: string;
  readonly backup: string;
  /** Opens one of them. */
  readonly aliceIn: (place: string) => Promise<Person>;
}

/** Lets a story have profiles of Alice's, which are gone afterwards. */
async function withPlaces(relay: RunningRelay, story: (places: Places) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sinetti-place-'));
  const contexts: BrowserContext[] = [];
  try {
    await story({
      profile: join(folder, 'profile'),
      copy: join(folder, 'copy'),
      backup: join(folder, 'backup'),
      async aliceIn(place) {
        const context = await open(place, relay.url);
        contexts.push(context);
        return Person.in(context, 'alice');
      },
    });
  } finally {
    for (const context of contexts) await context.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Alice has written to Bob, and her profile is copied while it is closed. */
async function talkThenCopy({ aliceIn, copy, profile }: Places, bob: Person): Promise<void> {
  const alice = await aliceIn(profile);
  await alice.signUp();
  await bob.signUp();
  await becomeContacts(alice, bob);
  await alice.openChat(bob);
  await alice.send('Before the copy.');
  await bob.openChat(alice);
  await bob.sees('Before the copy.');
  await alice.page.context().close();
  await cp(profile, copy, { recursive: true });
}

/** Goes on in the first place, where nothing is known of the other. */
async function goOn({ aliceIn, profile }: Places, bob: Person): Promise<Person> {
  const alice = await aliceIn(profile);
  await alice.page.goto('/dashboard');
  await alice.onDashboard();
  await alice.openChat(bob);
  await alice.send('From the first place.');
  await bob.sees('From the first place.');
  return alice;
}

/** Has the relay keep no start: it takes each one, and answers every place with what that has said itself. */
function forgetStarts(relay: RunningRelay): void {
  relay.inDatabase((db) =>
    db.exec(`
    create trigger forget_starts after update of start_tag on devices when new.start_tag is not null
    begin update devices set start_number = null, start_tag = null where id = new.id; end;
    update devices set start_number = null, start_tag = null;
  `),
  );
}

test('a profile that is copied is noticed by its own entries where the relay lies about starts', async ({
  newBrowser,
  relay,
}) => {
  const { person: bob } = await newBrowser('bob');
  await withPlaces(relay, async (places) => {
    await talkThenCopy(places, bob);
    forgetStarts(relay);
    const alice = await goOn(places, bob);

    const other = await places.aliceIn(places.copy);
    const sent = sendings(other);
    await other.page.goto('/dashboard');
    await isAskedWhy(other);
    await isAskedWhy(alice);
    expect(sent).toEqual([]);
    const starts = relay.inDatabase((db) => db.prepare('select start_tag from devices').all());
    expect(starts).toEqual(starts.map(() => ({ start_tag: null })));

    await beginsAnew(other);
    await other.openChat(bob);
    await other.sees('Before the copy.');
    await other.send('From the copy.');
    await beginsAnew(alice);
    await alice.openChat(bob);
    await alice.sees('Before the copy.', 'From the first place.');
    await alice.send('From the first place again.');
    const texts = [
      'Before the copy.',
      'From the first place.',
      'From the copy.',
      'From the first place again.',
    ];
    await bob.sees(...texts);
    await other.sees('From the first place again.');
  });
});

test('a profile that is copied, or restored, is noticed before anything leaves: both places chat on as new devices', async ({
  newBrowser,
  relay,
}) => {
  const { person: bob } = await newBrowser('bob');
  await withPlaces(relay, async (places) => {
    const { aliceIn, backup, copy, profile } = places;
    await talkThenCopy(places, bob);
    let alice = await goOn(places, bob);

    const other = await aliceIn(copy);
    const sent = sendings(other);
    await other.page.goto('/dashboard');
    await isAskedWhy(other);
    await isAskedWhy(alice);
    expect(sent).toEqual([]);

    await beginsAnew(other);
    await other.openChat(bob);
    await other.sees('Before the copy.');
    await other.send('From the copy.');
    await bob.sees('From the copy.');
    // The same watcher sees what leaves once that may: a commit by which the new device comes in, a message and receipts.
    await expect.poll(() => new Set(sent)).toEqual(new Set(['commits', 'messages', 'receipt']));
    await beginsAnew(alice);
    await alice.openChat(bob);
    await alice.sees('Before the copy.', 'From the first place.');
    await alice.send('From the first place again.');
    await bob.sees(
      'Before the copy.',
      'From the first place.',
      'From the copy.',
      'From the first place again.',
    );
    await other.sees('From the first place again.');
    await bob.send('I read all of you.');
    await alice.sees('I read all of you.');
    await other.sees('I read all of you.');

    // Another day: the first place is restored from a backup, with starts and messages since.
    await alice.page.context().close();
    await cp(profile, backup, { recursive: true });
    alice = await aliceIn(profile);
    await alice.page.goto('/dashboard');
    await alice.onDashboard();
    await alice.openChat(bob);
    await alice.send('After the backup.');
    await bob.sees('After the backup.');
    await alice.page.context().close();

    const restored = await aliceIn(backup);
    const sentAfter = sendings(restored);
    await restored.page.goto('/dashboard');
    await isAskedWhy(restored);
    expect(sentAfter).toEqual([]);
    await beginsAnew(restored);
    await restored.openChat(bob);
    await restored.sees('From the first place.');
    await restored.send('Restored, and well.');
    await bob.sees('After the backup.', 'Restored, and well.');
    expect(sentAfter).toContain('messages');
  });
});

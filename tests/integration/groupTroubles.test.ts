import { beforeEach, describe, expect, it } from 'vitest';
import { bytesType } from '../../relay/contract/index.ts';
import { answered, routeAt, textOf } from '../../relay/test/parts.ts';
import { chatEventsAtom } from '../../src/store/chatEvents.ts';
import { groupKeyOf } from '../../src/store/chats.ts';
import { groupsAtom } from '../../src/store/groups.ts';
import {
  type Browser,
  type BrowserOptions,
  befriend,
  type Tab,
  until,
  untilConnected,
} from './support/browser.ts';
import { dyingAfter } from './support/dying.ts';
import { annaAnd, groupOf, type People, untilLines, untilMembers, untilTogether } from './support/people.ts';
import { browsers, newBrowser, withRelay } from './support/world.ts';

type Answer = Record<string, unknown>;
/** The answer that a lying relay makes of a true one; null for the truth. */
type Lie = (call: string, answer: Answer) => Answer | readonly Answer[] | null;

let lie: Lie;
/** Told to Bert alone. An answer with `status` is an error of that status. */
let bertsLie: Lie;
/** Calls that get no answer: they never arrive, or the answer is lost. */
let lost: (call: string) => 'call' | 'answer' | null;

withRelay();

beforeEach(() => {
  lie = () => null;
  bertsLie = () => null;
  lost = () => null;
});

async function lyingFetch(isBerts: boolean, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const request = new Request(input, init);
  const call = `${request.method} ${new URL(request.url).pathname.replace('/api', '')}`;
  const loss = lost(call);
  if (loss === 'answer') await fetch(request);
  if (loss !== null) throw new TypeError('connection lost');
  const response = await fetch(request);
  if (!response.ok || response.status === 204) return response;
  const type = response.headers.get('content-type');
  const address = new URL(request.url).pathname.replace('/api', '');
  const { responseParts } = routeAt(request.method, address) ?? {};
  if (type === bytesType) return response;
  const answer: unknown = JSON.parse(
    textOf(new Uint8Array(await response.clone().arrayBuffer()), type, responseParts),
  );
  if (typeof answer !== 'object' || answer === null) return response;
  const changed = lie(call, answer as Answer) ?? (isBerts ? bertsLie(call, answer as Answer) : null);
  if (changed === null) return response;
  if ((changed as Answer)['status'] === 404)
    return Response.json({ code: 'not-found', detail: 'Gone.' }, { status: 404 });
  return new Response(answered(request.method, address, changed), { status: response.status });
}

function newTroubledBrowser(options: { withoutMqtt?: boolean } = {}): Browser {
  // Anna's is the first; Bert's comes next.
  const isBerts = browsers.length === 1;
  const fetch: BrowserOptions['fetch'] = (...request) => lyingFetch(isBerts, ...request);
  return newBrowser({ ...options, fetch });
}

/** A group of Anna and the others, whose chat everybody has open. */
async function groupOfAnnaAnd<Names extends readonly string[]>(
  names: Names,
): Promise<{ id: string; key: string; people: People<Names> }> {
  const people = await annaAnd(newTroubledBrowser, names);
  const [anna, ...others] = people;
  const id = await anna.actions.createGroup('Sailing club');
  for (const tab of others) await anna.actions.addGroupMembers(id, [tab.userId]);
  await untilMembers(id, ['anna', ...names], ...people);
  for (const tab of people) await tab.actions.openGroup(id);
  return { id, key: groupKeyOf(id), people };
}

describe('a relay whose list of members lies', () => {
  const stranger = { id: crypto.randomUUID(), username: 'mallory' };

  it('holds the messages back until it agrees with the keys', async () => {
    const { id, key, people } = await groupOfAnnaAnd(['bert'] as const);
    const [anna, bert] = people;
    lie = (call, answer) =>
      call === `GET /group/${id}`
        ? { ...answer, members: [...(answer['members'] as Answer[]), { id: stranger.id, user: stranger }] }
        : null;
    await anna.actions.loadGroupDetails(id);
    expect(groupOf(anna, id)?.mismatch).toEqual({ unlisted: [], withoutKeys: [stranger.id] });
    expect(groupOf(anna, id)?.members.map(({ username }) => username)).toEqual(['anna', 'bert']);

    await anna.actions.sendMessage(key, 'not for mallory');
    await anna.actions.loadGroupDetails(id);
    expect(anna.lines(key)).toEqual(['sending: not for mallory']);
    expect(bert.lines(key)).toEqual([]);

    lie = () => null;
    await anna.actions.loadGroupDetails(id);
    expect(groupOf(anna, id)?.mismatch).toBeNull();
    await untilLines(anna, id, ['sent: not for mallory']);
    await untilLines(bert, id, ['received: not for mallory']);
  });

  it('leaves nobody out unseen', async () => {
    const { id, people } = await groupOfAnnaAnd(['bert', 'carl'] as const);
    const [anna, , carl] = people;
    lie = (call, answer) =>
      call === `GET /group/${id}`
        ? {
            ...answer,
            members: (answer['members'] as { user: { id: string } }[]).filter(
              ({ user }) => user.id !== carl.userId,
            ),
          }
        : null;
    await anna.actions.loadGroupDetails(id);
    expect(groupOf(anna, id)?.mismatch).toEqual({ unlisted: [carl.userId], withoutKeys: [] });
  });

  it('removes nobody by a statement that they never made', async () => {
    const { id, people } = await groupOfAnnaAnd(['bert', 'carl'] as const);
    const [anna, bert, carl] = people;
    const forged = Buffer.alloc(300, 7).toString('base64url');
    lie = (call, answer) =>
      call === `GET /group/${id}`
        ? {
            ...answer,
            members: (answer['members'] as { user: { id: string } }[]).filter(
              ({ user }) => user.id !== carl.userId,
            ),
            departed: [{ user_id: carl.userId, statement: forged }],
          }
        : null;
    await bert.actions.loadGroupDetails(id);
    expect(groupOf(bert, id)?.mismatch).toEqual({ unlisted: [carl.userId], withoutKeys: [] });
    expect(groupOf(bert, id)?.members).toHaveLength(3);
    lie = () => null;
    await bert.actions.loadGroupDetails(id);
    expect(groupOf(bert, id)?.mismatch).toBeNull();
    await untilTogether(id, anna, bert, carl);
  });
});

it('a commit that the relay forges for one member is refused there with its code, and the group goes on', async () => {
  const people = await annaAnd(() => newTroubledBrowser({ withoutMqtt: true }), ['bert', 'carl'] as const, {
    withoutMqtt: true,
  });
  const [anna, bert, carl] = people;
  const id = await anna.actions.createGroup('Sailing club');
  const key = groupKeyOf(id);
  await anna.actions.addGroupMembers(id, [bert.userId]);
  await untilMembers(id, ['anna', 'bert'], anna, bert);
  await bert.actions.openGroup(id);
  await anna.actions.sendMessage(key, 'before');
  await untilLines(bert, id, ['received: before']);

  const { lastSeq = 0 } = bert.chat(key).state ?? {};
  let isForged = false;
  bertsLie = (call, answer) => {
    if (isForged || call !== `GET /messages/group/${id}` || !Array.isArray(answer)) return null;
    const next = (answer as Answer[]).find(({ seq }) => seq === lastSeq + 1);
    if (next === undefined) return null;
    isForged = true;
    return (answer as Answer[]).map((entry) => (entry === next ? { ...entry, content: 'AAAA' } : entry));
  };
  await anna.actions.addGroupMembers(id, [carl.userId]);
  await until(() => isForged, true);
  // Sooner or later a receipt shows as well that his log is another, which it is.
  const changesOf = (tab: Tab) =>
    tab.store.get(chatEventsAtom)[key]?.flatMap(({ change }) => (change.kind === 'diverged' ? [] : [change]));
  const changes = () => changesOf(bert);
  await until(changes, [
    { kind: 'refused', code: 'unsupported' },
    { kind: 'rejoined', added: [carl.userId], removed: [] },
  ]);
  await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
  await bert.actions.sendMessage(key, 'none the worse');
  await anna.actions.openGroup(id);
  await until(() => anna.lines(key).at(-1), 'received: none the worse');
  await untilTogether(id, ...people);

  bert.kill();
  const next = browsers[1]?.openTab();
  if (next === undefined) throw new Error('no browser');
  await next.resume();
  await next.actions.openGroup(id);
  const kept = changesOf(next)?.map(({ kind }) => kind);
  expect(kept).toEqual(['refused', 'rejoined']);
});

it('a group that the relay says it does not have is kept here, and goes on when it is there again', async () => {
  const { id, key, people } = await groupOfAnnaAnd(['bert'] as const);
  const [anna, bert] = people;
  await anna.actions.sendMessage(key, 'before');
  await untilLines(bert, id, ['received: before']);
  bertsLie = (call, answer) => {
    if (call === 'GET /groups') return [];
    return call === `GET /group/${id}` ? { ...answer, status: 404 } : null;
  };
  bert.cutMqtt();
  await until(() => groupOf(bert, id)?.ended, true);
  expect(bert.lines(key)).toEqual(['received: before']);
  bertsLie = () => null;
  bert.restoreMqtt();
  await until(() => groupOf(bert, id)?.ended, false);
  await anna.actions.sendMessage(key, 'after');
  await untilLines(bert, id, ['received: before', 'received: after']);
});

describe('a tab that dies', () => {
  it.each(['startConversation', 'processEntries'] as const)(
    'while it creates a group, after %s, leaves a whole one or none',
    async (method) => {
      const [anna] = await annaAnd(newTroubledBrowser, ['bert'] as const);
      const [annasBrowser] = browsers;
      if (annasBrowser === undefined) throw new Error('no browser');
      anna.kill();
      const { died, wrapCrypto } = dyingAfter(method);
      const dying = annasBrowser.openTab(wrapCrypto);
      await dying.resume();
      void dying.actions.createGroup('Sailing club').catch(() => undefined);
      await died;
      dying.kill();
      annasBrowser.locks.releaseAll();

      const next = annasBrowser.openTab();
      await next.resume();
      await until(() => next.store.get(groupsAtom).loaded, true);
      const expected = method === 'startConversation' ? [] : ['Sailing club'];
      await until(() => next.store.get(groupsAtom).items.map(({ name }) => name), expected);
      await until(() => next.conversationIds.length, expected.length);
      expect(next.toastTexts).toEqual([]);
    },
  );

  it.each(['addMembers', 'processEntries'] as const)(
    'while it adds somebody, after %s, leaves everybody in one epoch',
    async (method) => {
      const { id, key, people } = await groupOfAnnaAnd(['bert'] as const);
      const [anna, bert] = people;
      const carl = await newTroubledBrowser().openTab().signUp('carl');
      await untilConnected(carl);
      await befriend(anna, carl);
      const [annasBrowser] = browsers;
      anna.kill();
      const { died, wrapCrypto } = dyingAfter(method);
      const dying = annasBrowser?.openTab(wrapCrypto);
      await dying?.resume();
      void dying?.actions.addGroupMembers(id, [carl.userId]).catch(() => undefined);
      await died;
      dying?.kill();
      annasBrowser?.locks.releaseAll();

      const next = annasBrowser?.openTab();
      if (next === undefined) throw new Error('no browser');
      await next.resume();
      await untilConnected(next);
      await next.actions.openGroup(id);
      await next.actions.sendMessage(key, 'back again');
      await until(() => bert.lines(key).at(-1), 'received: back again');
      await untilMembers(id, ['anna', 'bert', 'carl'], next, bert, carl);
      await untilTogether(id, next, bert, carl);
      expect(groupOf(next, id)?.mismatch).toBeNull();
    },
  );
});

describe('a connection that is lost', () => {
  it.each([
    { what: 'the call that starts it', call: /^POST \/conversations\//, loss: 'call' },
    { what: 'the answer to its start', call: /^POST \/conversations\//, loss: 'answer' },
    { what: 'the answer to its creation', call: /^POST \/group$/, loss: 'answer' },
  ] as const)('with $what leaves no half-made group', async ({ call, loss }) => {
    const [anna] = await annaAnd(newTroubledBrowser, ['bert'] as const);
    lost = (made) => (call.test(made) ? loss : null);
    await expect(anna.actions.createGroup('Sailing club')).rejects.toMatchObject({
      code: 'unreachable',
      message: 'Failed to create group. Please try again.',
    });
    expect(anna.store.get(groupsAtom).items).toEqual([]);
    expect(anna.conversationIds.filter((id) => id.startsWith('group:'))).toEqual([]);
    lost = () => null;
    const id = await anna.actions.createGroup('Sailing club');
    expect(groupOf(anna, id)?.name).toBe('Sailing club');
    expect(anna.store.get(groupsAtom).items).toHaveLength(1);
  });

  it('for good while a group is created lets it be finished later', async () => {
    const [anna] = await annaAnd(newTroubledBrowser, ['bert'] as const);
    lost = (call) => (call.startsWith('POST /conversations/') || call.startsWith('DELETE') ? 'call' : null);
    await expect(anna.actions.createGroup('Sailing club')).rejects.toMatchObject({ code: 'unreachable' });
    lost = () => null;
    anna.kill();
    const next = browsers[0]?.openTab();
    await next?.resume();
    const shown = () => next?.store.get(groupsAtom).items.map(({ name, members }) => [name, members.length]);
    await until(shown, [['Sailing club', 1]]);
  });

  it('with the answer to an addition adds the person once', async () => {
    const { id, key, people } = await groupOfAnnaAnd(['bert'] as const);
    const [anna, bert] = people;
    const carl = await newTroubledBrowser().openTab().signUp('carl');
    await untilConnected(carl);
    await befriend(anna, carl);
    lost = (call) => (call === `POST /group/${id}/add` ? 'answer' : null);
    await expect(anna.actions.addGroupMembers(id, [carl.userId])).rejects.toMatchObject({
      message: 'Failed to add member. Please try again.',
    });
    lost = () => null;
    await anna.actions.addGroupMembers(id, [carl.userId]);
    await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
    await anna.actions.sendMessage(key, 'all here');
    await until(() => carl.chat(key).state?.unread, 1);
    await untilTogether(id, anna, bert, carl);
  });
});

it('a member who was away finds everything since, and is still one of them', async () => {
  const { id, key, people } = await groupOfAnnaAnd(['bert', 'carl'] as const);
  const [anna, bert, carl] = people;
  const [, , carlsBrowser] = browsers;
  carl.kill();
  for (let round = 1; round <= 6; round += 1) {
    await anna.actions.sendMessage(key, `anna ${round}`);
    await until(() => bert.lines(key).at(-1), `received: anna ${round}`);
    // Each of Bert's returns is a commit.
    const tablet = await newTroubledBrowser().openTab().logIn('bert');
    await until(() => tablet.chat(key).state?.status, 'joined');
    tablet.kill();
  }
  const back = carlsBrowser?.openTab();
  if (back === undefined) throw new Error('no browser');
  await back.resume();
  await back.actions.openGroup(id);
  await until(
    () => back.lines(key),
    [1, 2, 3, 4, 5, 6].map((round) => `received: anna ${round}`),
  );
  await back.actions.sendMessage(key, 'what a lot');
  await until(() => anna.lines(key).at(-1), 'received: what a lot');
  await untilTogether(id, anna, bert, back);
  expect(back.toastTexts).toEqual([]);
});

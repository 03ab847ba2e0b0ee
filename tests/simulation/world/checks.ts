import { groupsAtom } from '#src/store/groups.ts';
import { olderVaultAtom } from '#src/store/keys.ts';
import { trustAtom } from '#src/store/trust.ts';
import type { CryptoApi, MessageView } from '#workers/api/cryptoApi.ts';
import { type LogOfRelay, logsOfRelay } from './log.ts';
import type { Seat } from './people.ts';
import type { Tab } from './profile.ts';
import { keyIn, untilRest } from './settle.ts';
import type { World } from './world.ts';

const page = 100;

/** Everybody says a last word, which everybody reads: they have the same secrets. */
export async function lastWords(world: World): Promise<void> {
  const logs = await logsOfRelay(world.relay);
  world.saidBeforeLast = world.said.length;
  for (const { seat, tab, log } of places(world, logs)) {
    if (log.id.startsWith('self:')) continue;
    world.say(seat, tab, keyIn(log.id, seat), log.id);
  }
  await untilRest(world, 'after the last words');
}

export function places(
  world: World,
  logs: readonly LogOfRelay[],
): { seat: Seat; tab: Tab; log: LogOfRelay }[] {
  return world.seats
    .filter(({ status }) => status === 'in')
    .flatMap((seat) => {
      const [tab] = seat.tabs;
      if (tab === undefined) return [];
      return logs
        .filter(({ lastSeq, userIds }) => lastSeq > 0 && userIds.includes(seat.person.id))
        .map((log) => ({ seat, tab, log }));
    });
}

/** Compares what everybody has with what was said and what the relay has. */
export async function check(world: World): Promise<void> {
  const { wrong } = world;
  const logs = await logsOfRelay(world.relay);
  const texts = new Map(world.said.map((said) => [said.text, said]));
  const copied = await copiedAtRelay(world);
  const revoked = new Set(
    world.seats.filter(({ status }) => status === 'revoked').map(({ deviceId }) => deviceId),
  );
  /** By message id, as whoever read it first has it. */
  const read = new Map<string, string>();
  for (const { log, seat, tab } of places(world, logs)) {
    const where = `${seat.profile.name} in ${log.id}`;
    const state = await tab.crypto.conversation(log.id);
    if (state.status !== 'joined') wrong.push(`${where}: ${state.status}`);
    for (const { deviceIds, userId } of state.members) {
      if (!log.userIds.includes(userId)) wrong.push(`${where}: somebody who is out is in the keys`);
      if (deviceIds.some((id) => revoked.has(id))) wrong.push(`${where}: a revoked device is in the keys`);
      if (deviceIds.some((id) => copied.has(id)))
        wrong.push(`${where}: a device that was in two places is in the keys`);
    }
    const isSelf = log.id.startsWith('self:');
    const messages = await messagesOf(tab.crypto, log.id);
    const seqs = messages.map(({ seq }) => seq ?? 0);
    if (seqs.some((seq, i) => i > 0 && seq <= (seqs[i - 1] ?? 0)))
      wrong.push(`${where}: out of order, or twice`);
    const byId = new Map(messages.map((message) => [message.messageId, message]));
    for (const { content, messageId } of messages) {
      if (content.kind !== 'text') continue;
      // Messages that a browser has kept from before it became another device count, too.
      if ((read.get(messageId) ?? content.text) !== content.text)
        wrong.push(`${where}: "${content.text}" reads otherwise elsewhere`);
      read.set(messageId, content.text);
    }
    const later = log.entries.filter(({ kind, seq }) => kind === 'application' && seq > state.joinedSeq);
    // Own devices tell each other more than notes, which those know that have read them.
    for (const { id, seq } of later.filter((entry) => !isSelf || read.has(entry.id))) {
      const content = byId.get(id)?.content;
      if (content?.kind !== 'text') {
        wrong.push(
          `${where}: ${seq} is ${content?.kind === 'undecryptable' ? content.reason : (content?.kind ?? 'not there')}`,
        );
        continue;
      }
      const said = texts.get(content.text);
      if (said?.conversationId !== log.id) wrong.push(`${where}: "${content.text}" was not said there`);
    }
  }
  const times = new Map<string, number>();
  for (const text of read.values()) times.set(text, (times.get(text) ?? 0) + 1);
  for (const { isKept, mayBeLost, text, conversationId } of world.said) {
    const count = times.get(text) ?? 0;
    const isGone = !logs.some(({ id }) => id === conversationId);
    if (count > 1) wrong.push(`"${text}" is there ${count} times`);
    if (count === 0 && isKept && !mayBeLost && !isGone) wrong.push(`"${text}" is lost in ${conversationId}`);
  }
  for (const id of copied)
    if (!world.inTwoPlaces.has(id)) wrong.push(`device ${id} is said to be in two places, and never was`);
  await checkThieves(world, logs);
}

/** Ids of the devices that the relay was told are in two places. */
async function copiedAtRelay({ relay }: World): Promise<Set<string>> {
  const { db } = relay.relay.database;
  const live = await db.selectFrom('devices').select('id').where('copied_at', 'is not', null).execute();
  const ended = await db
    .selectFrom('revoked_devices')
    .select('device_id as id')
    .where('copied_at', 'is not', null)
    .execute();
  return new Set([...live, ...ended].map(({ id }) => id));
}

export async function messagesOf(crypto: CryptoApi, conversationId: string): Promise<MessageView[]> {
  const all: MessageView[] = [];
  for (;;) {
    const [first] = all;
    const before = first?.seq;
    const found = await crypto.messages(conversationId, {
      limit: page,
      ...(before === undefined || before === null ? {} : { before }),
    });
    all.unshift(...found);
    if (found.length < page) return all;
  }
}

/** The copies of who was taken out open nothing of the last words, which all were said after everybody knew of it. */
async function checkThieves(world: World, logs: readonly LogOfRelay[]): Promise<void> {
  const last = new Set(world.said.slice(world.saidBeforeLast).map(({ text }) => text));
  for (const thief of world.thieves) {
    await thief.read(logs);
    for (const { conversationId, text } of thief.stolen.filter((stolen) => last.has(stolen.text)))
      world.wrong.push(`a copy of ${thief.name}'s storage reads "${text}" in ${conversationId}`);
  }
}

/** Everything by which somebody is told that something is wrong. */
export async function alarms(world: World): Promise<string[]> {
  const found: string[] = [];
  for (const { profile, status, tabs } of world.seats) {
    if (status !== 'in') continue;
    const [tab] = tabs;
    if (tab === undefined) continue;
    if (tab.store.get(olderVaultAtom)) found.push(`${profile.name}: older vault`);
    for (const { changedAt, keyOffered } of tab.store.get(trustAtom).values()) {
      if (keyOffered || changedAt.length > 0) found.push(`${profile.name}: changed key`);
    }
    for (const group of tab.store.get(groupsAtom).items) {
      if (group.mismatch !== null) found.push(`${profile.name}: members differ`);
      if (group.refusal !== null) found.push(`${profile.name}: group refused (${group.refusal})`);
    }
    for (const { conversationId, group, isDoubted } of await tab.crypto.conversations()) {
      if (isDoubted || (group?.unvouchedIds.length ?? 0) > 0)
        found.push(`${profile.name}: doubt in ${conversationId}`);
      for (const { change } of await tab.crypto.events(conversationId)) {
        if (['missing', 'withheld', 'diverged', 'refused'].includes(change.kind)) {
          found.push(
            `${profile.name}: ${change.kind}${change.kind === 'refused' ? ` (${change.code})` : ''} in ${conversationId}`,
          );
        }
      }
    }
  }
  return found;
}

/** Messages that can't be read, of all that anybody has. */
export async function undecryptable(world: World): Promise<string[]> {
  const found: string[] = [];
  for (const { profile, tabs } of world.seats) {
    const [tab] = tabs;
    for (const { conversationId } of (await tab?.crypto.conversations()) ?? []) {
      if (tab === undefined || conversationId.startsWith('self:')) continue;
      for (const { content } of await messagesOf(tab.crypto, conversationId)) {
        const isRead = content.kind !== 'undecryptable' || content.reason === 'before-join';
        if (!isRead) found.push(`${profile.name}: ${content.reason} in ${conversationId}`);
      }
    }
  }
  return found;
}

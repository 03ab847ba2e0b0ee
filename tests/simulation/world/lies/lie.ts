import { directConversationId } from '#src/net/contract.ts';
import { messageTime } from '#src/store/messageTime.ts';
import type { Random } from '../../seams/random.ts';
import { pass, passUntil } from '../../seams/time.ts';
import { messagesOf, places } from '../checks.ts';
import { logsOfRelay } from '../log.ts';
import type { Seat } from '../people.ts';
import type { Tab } from '../profile.ts';
import { keyIn } from '../settle.ts';
import type { World } from '../world.ts';
import { lastResort, rollStateBack, rollVaultBack } from './accountLies.ts';
import { type Lie, type LogLie, logLiar, logLies } from './lies.ts';
import { noticed, seatsIn, shownBy, type Told } from './noticed.ts';
import { exchangeNames, forgeReceipts, inventKey } from './rowLies.ts';

const second = 1_000;
const rounds = 3;

/** Lies to somebody, and lets everybody talk on. @returns null where there was nothing to lie about */
export async function tell(world: World, lie: Lie, random: Random): Promise<Told | null> {
  await beginOne(world);
  if (lie === 'vaultRollback') return rollVaultBack(world, random);
  if (lie === 'stateRollback') return rollStateBack(world, random);
  if (lie === 'lastResort') return lastResort(world, random);
  if (lie === 'inventedKey') return inventKey(world, random);
  if (lie === 'exchangedNames') return exchangeNames(world, random);
  if (lie === 'forgedReceipts') return forgeReceipts(world, random);
  return tellOfLog(world, lie, random);
}

/** Two begin to write to each other where nobody has: most lies are about a conversation. */
async function beginOne(world: World): Promise<void> {
  const found = places(world, await logsOfRelay(world.relay));
  const [one, other] = world.people.filter(({ tabs }) => tabs.length > 0);
  if (one === undefined || other === undefined || found.some(({ log }) => log.id.startsWith('direct:')))
    return;
  const id = directConversationId(one.id, other.id);
  for (const person of [one, other]) {
    const seat = seatsIn(world).find((its) => its.person === person);
    const [tab] = seat?.tabs ?? [];
    if (seat !== undefined && tab !== undefined) world.say(seat, tab, keyIn(id, seat), id);
    await pass(20 * second);
  }
}

async function tellOfLog(world: World, lie: LogLie, random: Random): Promise<Told | null> {
  const logs = (await logsOfRelay(world.relay)).filter(({ id }) => !id.startsWith('self:'));
  const found = places(world, logs).filter(({ log, seat }) =>
    seatsIn(world).some(({ person }) => person !== seat.person && log.userIds.includes(person.id)),
  );
  if (found.length === 0) return null;
  const { log, seat, tab } = random.pick(found);
  for (const other of seat.profile.tabs.filter((one) => one !== tab)) other.kill();
  const witnesses = seatsIn(world).filter(
    ({ person }) => person !== seat.person && log.userIds.includes(person.id),
  );
  tab.line.cut();
  const say = (one: Seat, its: Tab) => world.say(one, its, keyIn(log.id, one), log.id);
  if (logLies[lie].kind === 'commit') {
    // A new device comes in, by a commit.
    const [joining] = witnesses;
    if (joining === undefined) return null;
    await world.signIn(world.newSeat(joining.person));
    await pass(20 * second);
  }
  for (let words = 0; words < 2; words += 1) {
    for (const witness of witnesses) {
      const [its] = witness.tabs;
      if (its !== undefined) say(witness, its);
      await pass(2 * second);
    }
  }
  await pass(10 * second);
  const now = (await logsOfRelay(world.relay)).find(({ id }) => id === log.id);
  const { lastSeq } = await tab.crypto.conversation(log.id);
  const lastCommit = now?.entries.findLast(({ kind }) => kind === 'commit')?.seq ?? 0;
  // In an epoch that has ended nothing can be left out: no message compares it any more.
  const unread = (now?.entries ?? []).filter(({ kind, sender_id, seq }) => {
    const isOpen = kind === 'commit' || (seq > lastCommit && sender_id !== seat.person.id);
    return kind === logLies[lie].kind && seq > lastSeq && isOpen;
  });
  const candidates = lie === 'reorder' ? unread.slice(0, -1) : unread;
  if (candidates.length === 0) return null;
  const entry = { ...random.pick(candidates), conversationId: log.id };
  const before = await shownBy(world);
  tab.line.liar = logLiar(lie, entry, seat.person.id, log.userIds, random);
  tab.line.mend();
  tab.networkChanged();
  await passUntil(() => tab.isConnected, 60 * second);
  await pass(20 * second);
  for (let round = 0; round < rounds; round += 1) {
    for (const witness of witnesses) {
      const [its] = witness.tabs;
      if (its !== undefined) say(witness, its);
      await pass(5 * second);
    }
    const { isDoubted } = await tab.crypto.conversation(log.id);
    const peer = keyIn(log.id, seat);
    if (isDoubted) await world.finish(tab, 'send anyway', () => tab.actions.settleDoubt(peer, 'sendAnyway'));
    say(seat, tab);
    await pass(10 * second);
  }
  if (lie === 'withholdThenDrop') {
    // The log goes on without the commit.
    tab.line.liar = logLiar('dropCommit', entry, seat.person.id, log.userIds, random);
    tab.line.interrupt();
    await passUntil(() => tab.isConnected, 60 * second);
    for (const witness of witnesses) {
      const [its] = witness.tabs;
      if (its !== undefined) say(witness, its);
      await pass(5 * second);
    }
    await pass(20 * second);
  }
  const told = await noticed(world, lie, seat, before, {
    conversationId: log.id,
    // Only the header of who wrote a message that was left out counts it.
    onVictim: (what) => (lie === 'drop' && what === 'missing' ? entry.sender_device_id : null),
    victimDeviceId: seat.deviceId,
  });
  if (lie !== 'retime') return told;
  const message = (await messagesOf(tab.crypto, log.id)).find(({ messageId }) => messageId === entry.id);
  const isBeside = message !== undefined && messageTime(message).byClock !== null;
  return { ...told, byVictim: isBeside ? ["the sender's clock beside"] : [], byOthers: [] };
}

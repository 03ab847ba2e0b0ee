import { expect, it } from 'vitest';
import { createRetentionJob } from '../../relay/src/jobs/retention.ts';
import { Metrics } from '../../relay/src/metrics/metrics.ts';
import { groupKeyOf } from '../../src/store/chats.ts';
import { type Tab, until } from './support/browser.ts';
import { annaAnd, textsOf, untilMembers } from './support/people.ts';
import { browsers, newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

const day = 24 * 60 * 60 * 1000;

/** Deletes the content of all that was written, as a relay that keeps it for a day does two days later. */
const retain = () =>
  createRetentionJob({
    database: relay.relay.database,
    retention: { days: 1, historyDays: null },
    clock: () => Date.now() + 2 * day,
    metrics: new Metrics(),
    log: relay.relay.app.log,
  }).run();

const unvouched = (tab: Tab, key: string) => tab.chat(key).state?.group?.unvouchedIds ?? [];

/** Bert comes back to Anna's group, in which Dora is new: Anna's commit is gone, and Carl has made the last one. */
async function comesBack() {
  const [anna, bert, carl, dora] = await annaAnd(newBrowser, ['bert', 'carl', 'dora'] as const);
  const groupId = await anna.actions.createGroup('Early birds');
  const key = groupKeyOf(groupId);
  await anna.actions.addGroupMembers(groupId, [bert.userId, carl.userId]);
  await untilMembers(groupId, ['anna', 'bert', 'carl'], anna, bert, carl);
  await bert.actions.openGroup(groupId);
  await until(() => bert.chat(key).state?.status, 'joined');
  bert.kill();
  await anna.actions.addGroupMembers(groupId, [dora.userId]);
  await untilMembers(groupId, ['anna', 'bert', 'carl', 'dora'], anna, carl);
  await carl.actions.sendMessage(key, 'Good morning');
  await until(() => textsOf(anna, key), ['Good morning']);
  await retain();
  const back = browsers[1]?.openTab();
  if (back === undefined) throw new Error('no browser');
  await back.resume();
  await back.actions.openGroup(groupId);
  await until(() => unvouched(back, key), [dora.userId]);
  await back.actions.sendMessage(key, 'Who is Dora?');
  await until(() => back.lines(key).at(-1), 'sending: Who is Dora?');
  expect(textsOf(anna, key)).not.toContain('Who is Dora?');
  return { anna, back, key };
}

it('what a browser writes that has found somebody in a group waits until its person sends it anyway', async () => {
  const { anna, back, key } = await comesBack();
  await back.actions.settleDoubt(key, 'sendAnyway');
  await until(() => textsOf(anna, key).at(-1), 'Who is Dora?');
  expect(unvouched(back, key)).toEqual([]);
});

it('what a browser writes that has found somebody in a group waits until the creator’s browser has confirmed them', async () => {
  const { anna, back, key } = await comesBack();
  await anna.actions.sendMessage(key, 'I have added Dora');
  // The creator's browser renews its leaf before its message: that commit confirms them, and either message may come first.
  await until(() => textsOf(anna, key).includes('Who is Dora?'), true);
  expect(unvouched(back, key)).toEqual([]);
});

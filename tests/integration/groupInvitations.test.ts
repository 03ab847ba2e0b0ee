import { expect, it } from 'vitest';
import { groupInvitationsAtom } from '../../src/store/groupInvitations.ts';
import { toastsAtom } from '../../src/store/toasts.ts';
import { type Tab, until } from './support/browser.ts';
import { annaAnd, groupOf, untilMembers } from './support/people.ts';
import { newBrowser, withRelay } from './support/world.ts';

withRelay();

const invitationsOf = (tab: Tab) =>
  tab.store.get(groupInvitationsAtom).map(({ accepted, group_id, user }) => [group_id, user.id, accepted]);

it('who wants to be asked first is in no group and no tree before both have tapped', async () => {
  const [anna, bert, carl] = await annaAnd(newBrowser, ['bert', 'carl'] as const);
  expect(await bert.actions.updateAskedFirst(true)).toBe(true);
  const id = await anna.actions.createGroup('Sailing club');
  expect(await anna.actions.addGroupMembers(id, [bert.userId, carl.userId])).toEqual({
    asked: [bert.userId],
    withoutDevice: [],
  });
  await untilMembers(id, ['anna', 'carl'], anna, carl);
  for (const tab of [anna, bert]) await until(() => invitationsOf(tab), [[id, bert.userId, false]]);
  expect(groupOf(bert, id)).toBeUndefined();
  expect(bert.store.get(toastsAtom).map(({ text }) => text)).toEqual([
    'anna asks whether you want to be in a group. Answer in Groups.',
  ]);

  await bert.actions.updateGroupInvitations({ groupId: id, answer: 'accept' });
  for (const tab of [anna, bert]) await until(() => invitationsOf(tab), [[id, bert.userId, true]]);
  // The relay's word that somebody has accepted adds nobody by itself.
  await untilMembers(id, ['anna', 'carl'], anna, carl);
  expect(await anna.actions.addGroupMembers(id, [bert.userId])).toEqual({ asked: [], withoutDevice: [] });
  await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
  for (const tab of [anna, bert]) await until(() => invitationsOf(tab), []);
});

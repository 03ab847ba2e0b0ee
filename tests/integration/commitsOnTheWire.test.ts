import { expect, it } from 'vitest';
import type { LogEntry } from '../../relay/contract/index.ts';
import { textOf } from '../../relay/test/parts.ts';
import { groupKeyOf } from '../../src/store/chats.ts';
import type { BrowserOptions } from './support/browser.ts';
import { annaAnd, untilLines, untilMembers } from './support/people.ts';
import { browsers, newBrowser, withRelay } from './support/world.ts';

withRelay();

it('nobody fetches a commit that they have made or that has added them, and all others do', async () => {
  /** The contents of the commits that each browser was given, in the order in which the browsers were opened. */
  const given = [0, 1, 2].map(() => new Map<number, string>());
  const open = () => {
    const commits = given[browsers.length];
    const recording: BrowserOptions['fetch'] = async (input, init) => {
      const request = new Request(input, init);
      const response = await fetch(request);
      if (request.method !== 'GET' || !request.url.includes('/messages/group/') || !response.ok)
        return response;
      const body = new Uint8Array(await response.clone().arrayBuffer());
      const log = JSON.parse(textOf(body, response.headers.get('content-type'), ['content'])) as LogEntry[];
      for (const { content, kind, seq } of log) if (kind === 'commit') commits?.set(seq, content);
      return response;
    };
    return newBrowser({ fetch: recording, withoutMqtt: true });
  };
  const [anna, bert, carl] = await annaAnd(open, ['bert', 'carl'] as const, { withoutMqtt: true });
  const id = await anna.actions.createGroup('Sailing club');
  await anna.actions.addGroupMembers(id, [bert.userId]);
  await untilMembers(id, ['anna', 'bert'], anna, bert);
  await anna.actions.addGroupMembers(id, [carl.userId]);
  await untilMembers(id, ['anna', 'bert', 'carl'], anna, bert, carl);
  for (const tab of [bert, carl]) await tab.actions.openGroup(id);
  await anna.actions.sendMessage(groupKeyOf(id), 'Together');
  for (const tab of [bert, carl]) await untilLines(tab, id, ['received: Together']);

  const sizes = given.map((commits) =>
    Object.fromEntries([...commits].map(([seq, content]) => [seq, content === '' ? 'digest' : 'whole'])),
  );
  const [annas, berts, carls] = sizes;
  expect(Object.values(annas ?? {})).not.toContain('whole');
  expect(berts).toMatchObject({ 2: 'digest', 3: 'whole' });
  expect(carls).toMatchObject({ 3: 'digest' });
});

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createDrafts, type Drafts } from '#src/services/conversations/drafts.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { timings } from '#src/services/core/timings.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import { type TestDeps, testDeps } from './support/deps.ts';

let localEntries: Map<string, string>;
let writes: string[];
let deps: TestDeps;
let drafts: Drafts;
let readingFails: boolean;
let answered: Promise<void>;
let isFull: boolean;
const tellTabs = vi.fn<() => void>();

beforeEach(() => {
  localEntries = new Map([
    ['draft:bert', 'half a'],
    ['draft:group-1', 'for all'],
  ]);
  writes = [];
  readingFails = false;
  isFull = false;
  answered = Promise.resolve();
  deps = testDeps({
    crypto: {
      async localEntries(prefix = '') {
        if (readingFails) throw Object.assign(new Error('no'), { code: 'corrupt-record' });
        const found = [...localEntries].map(([name, text]) => ({ name, text }));
        await answered;
        return found.filter(({ name }) => name.startsWith(prefix));
      },
      async writeLocal(name, text) {
        if (isFull) throw Object.assign(new Error('no'), { code: 'storage' });
        writes.push(`${name}=${text}`);
      },
    },
  });
  tellTabs.mockReset();
  drafts = createDrafts(deps, createBackground(deps.log), tellTabs);
});

async function start(): Promise<void> {
  await drafts.start();
}

const shown = () => deps.store.get(draftsAtom);

function type(key: string, text: string): void {
  deps.store.set(draftsAtom, (all) => ({ ...all, [key]: text }));
}

describe('drafts of another tab', () => {
  const taken: Readonly<Record<string, string>>[] = [];

  beforeEach(async () => {
    taken.length = 0;
    deps.sessionEvents.on('draftsTaken', ({ drafts: news }) => taken.push(news));
    await start();
  });

  it('are taken over, also that one is gone, and not written again', async () => {
    localEntries.set('draft:bert', 'half a sentence');
    localEntries.delete('draft:group-1');
    await drafts.take();
    expect(shown()).toEqual({ bert: 'half a sentence', 'group-1': '' });
    expect(taken).toEqual([{ bert: 'half a sentence', 'group-1': '' }]);
    await deps.clock.advance(10_000);
    expect(writes).toEqual([]);
    expect(tellTabs).not.toHaveBeenCalled();
  });

  it('are passed over where something is being written here', async () => {
    type('bert', 'half an');
    localEntries.set('draft:bert', 'half a sentence');
    await drafts.take();
    expect(shown()['bert']).toBe('half an');
    await drafts.keep();
    expect(writes).toEqual(['draft:bert=half an']);
  });

  it('do not bring back what was kept here while they were read', async () => {
    localEntries.set('draft:bert', 'half a sentence');
    let resolve = (): void => undefined;
    answered = new Promise((answer) => {
      resolve = answer;
    });
    const started = drafts.take();
    // It is read as it was before what follows.
    await Promise.resolve();
    type('bert', 'half an');
    const kept = drafts.keep();
    localEntries.set('draft:bert', 'half an');
    type('bert', 'half an');
    resolve();
    await Promise.all([started, kept]);
    expect(shown()['bert']).toBe('half an');
    expect(tellTabs).toHaveBeenCalledOnce();
  });
});

describe('drafts', () => {
  it('come back with the session, and are not written for that', async () => {
    await start();
    expect(shown()).toEqual({ bert: 'half a', 'group-1': 'for all' });
    await deps.clock.advance(10_000);
    expect(writes).toEqual([]);
  });

  it('are kept soon after the first letter, not with every one', async () => {
    await start();
    type('carl', 'h');
    type('carl', 'he');
    expect(writes).toEqual([]);
    await deps.clock.advance(499);
    type('carl', 'hey');
    await deps.clock.advance(1);
    expect(writes).toEqual(['draft:carl=hey']);
  });

  it('are kept at once when the page goes out of sight, and when the session ends', async () => {
    await start();
    type('carl', 'hey');
    drafts.flush();
    expect(writes).toEqual(['draft:carl=hey']);
    type('carl', 'hey you');
    drafts.stop();
    expect(writes).toEqual(['draft:carl=hey', 'draft:carl=hey you']);
    type('carl', 'somebody else');
    await deps.clock.advance(10_000);
    expect(writes).toHaveLength(2);
  });

  it('are removed once they are sent, or their conversation is gone', async () => {
    await start();
    type('bert', '');
    deps.sessionEvents.emit('groupForgotten', { groupId: '1' });
    drafts.flush();
    expect(writes.toSorted()).toEqual(['draft:bert=null', 'draft:group-1=null']);
    expect(shown()).toEqual({ bert: '' });
  });

  it('do not overwrite what is typed while they are looked for', async () => {
    const started = drafts.start();
    type('bert', 'something new');
    await started;
    expect(shown()).toEqual({ bert: 'something new', 'group-1': 'for all' });
    drafts.flush();
    expect(writes).toEqual(['draft:bert=something new']);
  });

  it('are kept later where the disk is full', async () => {
    await start();
    isFull = true;
    type('bert', 'half a sentence');
    await deps.clock.advance(timings.draftKeeping);
    expect(writes).toEqual([]);
    await deps.clock.advance(timings.draftRetry);
    isFull = false;
    await deps.clock.advance(timings.draftRetry * 2);
    expect(writes).toEqual(['draft:bert=half a sentence']);
    expect(tellTabs).toHaveBeenCalledOnce();
  });

  it('that cannot be read back stop nothing', async () => {
    readingFails = true;
    await start();
    type('bert', 'new');
    drafts.flush();
    expect(writes).toEqual(['draft:bert=new']);
  });
});

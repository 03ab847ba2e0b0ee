import { beforeEach, describe, expect, it } from 'vitest';
import { createDrafts, type Drafts } from '#src/services/conversations/drafts.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import { type TestDeps, testDeps } from './support/deps.ts';

let localEntries: Map<string, string>;
let writes: string[];
let deps: TestDeps;
let drafts: Drafts;
let readingFails: boolean;

beforeEach(() => {
  localEntries = new Map([
    ['draft:bert', 'half a'],
    ['draft:group-1', 'for all'],
  ]);
  writes = [];
  readingFails = false;
  deps = testDeps({
    crypto: {
      localEntries: (prefix = '') =>
        readingFails
          ? Promise.reject(Object.assign(new Error('no'), { code: 'corrupt-record' }))
          : Promise.resolve(
              [...localEntries].flatMap(([name, text]) => (name.startsWith(prefix) ? [{ name, text }] : [])),
            ),
      writeLocal: (name, text) => {
        writes.push(`${name}=${text}`);
        return Promise.resolve();
      },
    },
  });
  drafts = createDrafts(deps, createBackground(deps.log));
});

async function start(): Promise<void> {
  await drafts.start();
}

const shown = () => deps.store.get(draftsAtom);

function type(key: string, text: string): void {
  deps.store.set(draftsAtom, (all) => ({ ...all, [key]: text }));
}

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

  it('that cannot be read back stop nothing', async () => {
    readingFails = true;
    await start();
    type('bert', 'new');
    drafts.flush();
    expect(writes).toEqual(['draft:bert=new']);
  });
});

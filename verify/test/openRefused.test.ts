import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { verifyChain } from '../src/chain/chain.ts';
import { rememberPlace } from '../src/seen.ts';
import { holders, publish, type SignedChain, signed, stated, writeBuilt } from './support/releases.ts';
import { app, data, first, folder, people, serveRelease, withRelay } from './support/tamperedRelay.ts';

serveRelease();

const port = 18_480;
let state: string;
beforeEach(() => {
  state = path.join(data, 'state');
});
afterEach(async () => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
  await rm(state, { recursive: true, force: true });
});

/** Runs the command as it is started. @returns its exit code, what it has said, and whether it serves anything now */
async function opened(relay: string): Promise<{ code: unknown; said: string; isServed: boolean }> {
  const said: string[] = [];
  const noting = (text: string | Uint8Array) => said.push(String(text)) > 0;
  vi.spyOn(process.stdout, 'write').mockImplementation(noting);
  vi.spyOn(process.stderr, 'write').mockImplementation(noting);
  const { argv } = process;
  const words = [relay, '--root', first.root, '--state', state, '--port', String(port)];
  process.argv = ['node', 'sinetti-open', ...words];
  vi.resetModules();
  try {
    await import('../src/sinettiOpen.ts');
  } finally {
    process.argv = argv;
    vi.restoreAllMocks();
  }
  const isServed = await fetch(`http://localhost:${port}/`).then(
    () => true,
    () => false,
  );
  return { code: process.exitCode, said: said.join(''), isServed };
}

/** Makes the next release of the chain, of the same files. */
async function next(signers = people): Promise<SignedChain> {
  const step = signed(await stated(folder, first.chain, { version: '1.0.1' }), signers);
  const steps = [...first.steps, step];
  if (signers === people) return { ...first, steps, chain: await verifyChain(steps, first.root) };
  return { ...first, steps, chain: { ...first.chain, release: { ...first.chain.release!, seq: 3 } } };
}

describe('sinetti-open opens nothing', () => {
  it('of a release that is older than one it has seen at this relay', async () => {
    await rememberPlace(state, app, first.root, (await next()).chain);
    expect(await opened(app)).toEqual({
      code: 1,
      isServed: false,
      said: expect.stringMatching(/^rollback: [^\n]+\n$/) as string,
    });
  });

  it.each([
    ['others', holders('anna', 'bertta', 'carl')],
    ['too few', { anna: people.anna! }],
  ])('of a release that is signed by %s', async (_, signers) => {
    await publish(folder, await next(signers));
    expect(await withRelay({}, opened)).toEqual({
      code: 1,
      isServed: false,
      said: expect.stringMatching(/^signature: [^\n]+\n$/) as string,
    });
  });

  it('of a relay that has another root', async () => {
    const other = { ...first, steps: [signed(first.steps[1]!.bytes, people), ...first.steps.slice(1)] };
    await publish(folder, other);
    expect(await withRelay({}, opened)).toMatchObject({
      code: 1,
      isServed: false,
      said: expect.stringMatching(/^chain: The chain begins with /) as string,
    });
  });

  it('where a file is another one than was signed', async () => {
    await writeBuilt(folder, 'app/favicon.svg', '<svg onload="steal()"/>');
    expect(await opened(app)).toEqual({
      code: 1,
      isServed: false,
      said: `different: Not the files of the release: ${app}/favicon.svg\n`,
    });
  });

  it.each(['app/favicon.svg', 'keys/keys.html'])('where a file is missing: %s', async (name) => {
    for (const copy of [name, `${name}.br`]) await rm(path.join(folder, copy));
    const { code, isServed, said } = await opened(app);
    expect({ code, isServed }).toEqual({ code: 1, isServed: false });
    expect(said).toMatch(/^different: Not the files of the release: [^\n]+\n$/);
    expect(said).toContain(path.basename(name, '.html'));
  });
});

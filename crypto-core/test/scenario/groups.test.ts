/** The foundations of groups of people: the binding to a creator, the rules of joining, and names for leaves. */
import { beforeAll, describe, expect, it } from 'vitest';
import { findGroupBinding, groupBindingExtension, LEAF_REF_LABEL as LABEL } from '../../src/account/index.ts';
import { utf8 } from '../../src/bytes.ts';
import {
  CryptoError,
  createCommit,
  createGroup,
  type Extension,
  exportGroupInfo,
  groupView,
  type JoinProposal,
  joinByWelcome,
  joinExternal,
  leafRef,
  processCommit,
  ready,
  toHex,
  toLeafIndex,
  welcomeKeyPackageRefs,
} from '../../src/index.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, device, keyPackageOf, SUITES } from './world.ts';

const env = testEnv('groups');
const open = { memberCheck: anyone, policy: anything };

beforeAll(ready);

function nameOf(ref: Uint8Array | null): string {
  return ref === null ? 'none' : toHex(ref);
}

describe('the group binding', () => {
  it('names the creator, and is refused in any other form', () => {
    expect(findGroupBinding([groupBindingExtension({ creatorId: 'anna' })])).toEqual({ creatorId: 'anna' });
    expect(findGroupBinding([])).toBeNull();
    const of = (...data: number[]): Extension[] => [{ type: 0xf0a1, data: Uint8Array.from(data) }];
    expect(codeOf(() => findGroupBinding(of(2, 1, 65)))).toBe('unsupported');
    for (const data of [[], [1], [1, 0], [1, 1, 0xff], [1, 1, 65, 0]]) {
      expect(codeOf(() => findGroupBinding(of(...data)))).toBe('malformed');
    }
    for (const creatorId of ['', 'x'.repeat(129)]) {
      expect(codeOf(() => groupBindingExtension({ creatorId }))).toBe('usage');
    }
  });
});

describe.each(SUITES)('a bound group of suite %i', (suite) => {
  function pair() {
    const anna = device('anna', env);
    const bert = device('bert', env);
    const extensions = [groupBindingExtension({ creatorId: 'anna' })];
    const group = createGroup({ suite, groupId: utf8('group:1'), ...anna, extensions }, env);
    const bundle = keyPackageOf(bert, suite, env);
    const created = createCommit(group, { ...open, adds: [bundle.bytes] }, env);
    if (created.welcome === null) throw new Error('no welcome');
    return { bert, bundle, annas: created.pending, welcome: created.welcome };
  }

  it('shows its binding to a joiner before it joins, by Welcome or from outside', () => {
    const { bert, bundle, annas, welcome } = pair();
    const seen: JoinProposal[] = [];
    const joinPolicy = (join: JoinProposal) => void seen.push(join);
    const berts = joinByWelcome(welcome, bundle, bert.signatureKey, { memberCheck: anyone, joinPolicy });
    const laptop = device('laptop', env);
    joinExternal(exportGroupInfo(berts), { ...laptop, memberCheck: anyone, joinPolicy }, env);
    const names = seen.map(({ signer, members, extensions, epoch }) => ({
      signer: signer.credential,
      members: members.length,
      binding: findGroupBinding(extensions),
      epoch,
    }));
    const of = (name: string) => ({ type: 'basic', identity: utf8(name) });
    const binding = { creatorId: 'anna' };
    expect(names).toEqual([
      { signer: of('anna'), members: 2, binding, epoch: 1n },
      { signer: of('bert'), members: 2, binding, epoch: 1n },
    ]);
    expect(findGroupBinding(groupView(annas).extensions)).toEqual(binding);
  });

  it('is not joined against the rules of the application', () => {
    const { bert, bundle, annas, welcome } = pair();
    const joinPolicy = () => {
      throw new CryptoError('policy', 'no');
    };
    const args = { memberCheck: anyone, joinPolicy };
    expect(codeOf(() => joinByWelcome(welcome, bundle, bert.signatureKey, args))).toBe('policy');
    expect(codeOf(() => joinExternal(exportGroupInfo(annas), { ...bert, ...args }, env))).toBe('policy');
  });

  it('tells which key packages a Welcome is for', () => {
    const { bundle, welcome } = pair();
    expect(welcomeKeyPackageRefs(welcome)).toEqual([bundle.ref]);
    expect(codeOf(() => welcomeKeyPackageRefs(bundle.bytes))).toBe('malformed');
  });

  it('names a leaf the same for everybody, and anew once it has changed', () => {
    const { bert, bundle, annas, welcome } = pair();
    const berts = joinByWelcome(welcome, bundle, bert.signatureKey, { memberCheck: anyone });
    const refs = (group: typeof annas) =>
      [0, 1].map((leaf) => nameOf(leafRef(group, toLeafIndex(leaf), LABEL)));
    // Bert's leaf still is as his key package brought it.
    expect(refs(berts)).toEqual(['none', 'none']);
    const first = createCommit(annas, { ...open, forcePath: true }, env);
    const between = processCommit(berts, first.commit, open).group;
    const before = refs(between);
    expect(refs(first.pending)).toEqual(before);
    expect(before).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), 'none']);
    const healed = createCommit(between, { ...open, forcePath: true, authenticatedData: utf8('why') }, env);
    let told = '';
    const next = processCommit(first.pending, healed.commit, {
      memberCheck: anyone,
      policy: (commit) => {
        expect(commit.authenticatedData).toEqual(utf8('why'));
        told = nameOf(commit.leafRef(toLeafIndex(0), LABEL));
      },
    }).group;
    expect(told).toBe(before[0]);
    const after = refs(next);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toMatch(/^[0-9a-f]{64}$/);
    expect(after[1]).not.toBe(after[0]);
    expect(after).toEqual(refs(healed.pending));
    expect(codeOf(() => leafRef(next, toLeafIndex(5), LABEL))).toBe('unknown-sender');
  });
});

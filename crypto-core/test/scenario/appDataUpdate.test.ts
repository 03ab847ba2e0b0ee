/** AppDataUpdate of the draft of MLS extensions: made, committed and refused. */
import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { byValue } from '../../src/group/proposalList.ts';
import {
  type AppDataLogic,
  type AppDataUpdateProposal,
  appDataDictionaryExtension,
  applyingAppData,
  type CommitProposal,
  type CreateCommitArgs,
  CryptoError,
  createProposal,
  DEFAULT_LIMITS,
  exportGroupInfo,
  findAppData,
  type Group,
  type JoinExternalArgs,
  joinExternal,
  processCommit,
  processProposal,
  ready,
  requiredCapabilitiesExtension,
} from '../../src/index.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { forgeCommit } from '../tamper/forge.ts';
import { commit, env, groupOf, hooks, joiner, without } from './draft.ts';

beforeAll(ready);

const [ONE, OTHER] = [0x8001, 0x8002];
const update = (componentId: number, text: string): AppDataUpdateProposal => ({
  type: 'app-data-update',
  op: 'update',
  componentId,
  update: utf8(text),
});
const removal = (componentId: number): AppDataUpdateProposal => ({
  type: 'app-data-update',
  op: 'remove',
  componentId,
});

/** Keeps a text to which each update appends, of component ONE by anybody and of OTHER by members. */
const logic: AppDataLogic = {
  update: (componentId, before, updates) => {
    if (componentId !== ONE && componentId !== OTHER) throw new CryptoError('invalid-proposal', 'unknown');
    if (componentId === OTHER && updates.some(({ sender }) => sender.type !== 'member')) {
      throw new CryptoError('policy', 'members only');
    }
    return Uint8Array.of(...(before ?? []), ...updates.flatMap(({ update: more }) => [...more]));
  },
  remove: (componentId, before) => {
    if (componentId === OTHER) throw new CryptoError('policy', `keeps ${before.length} bytes`);
  },
};
const appData = applyingAppData(logic);
const known = { ...hooks, appData };
const dataOf = ({ context }: Group) =>
  findAppData(context.extensions).map(({ componentId, data }) => [
    componentId,
    Buffer.from(data).toString('utf8'),
  ]);

describe('an AppDataUpdate', () => {
  it('changes the data of its component for all, in the order of the commit and without a path', () => {
    const [alice, bob] = groupOf(3) as [Group, Group, Group];
    const proposed = createProposal(bob, update(ONE, 'a'), env);
    const proposals = [processProposal(alice, proposed.message)];
    const updates = [update(OTHER, 'x'), update(ONE, 'b'), update(ONE, 'c')];
    const created = commit(alice, { appData, proposals, appDataUpdates: updates });
    expect(created.pending.tree.toNodes()).toEqual(alice.tree.toNodes());
    const told: boolean[] = [];
    const policy = ({ changesExtensions }: CommitProposal) => void told.push(changesExtensions);
    const processed = processCommit(bob, created.commit, {
      ...known,
      policy,
      proposals: [proposed.proposal],
    });
    expect(processed.group.secrets).toEqual(created.pending.secrets);
    expect([dataOf(processed.group), told]).toEqual([
      [
        [ONE, 'abc'],
        [OTHER, 'x'],
      ],
      [true],
    ]);
    const second = commit(created.pending, { appData, appDataUpdates: [update(OTHER, 'y'), removal(ONE)] });
    const after = processCommit(processed.group, second.commit, known).group;
    expect(after.secrets).toEqual(second.pending.secrets);
    expect(dataOf(after)).toEqual([[OTHER, 'xy']]);
    const third = commit(second.pending, { appData, appDataUpdates: [update(ONE, 'z')] });
    expect(dataOf(processCommit(after, third.commit, known).group)).toEqual([
      [ONE, 'z'],
      [OTHER, 'xy'],
    ]);
  });

  it('leaves the dictionary in its place among the extensions, and new ones come last', () => {
    const [alice] = groupOf(2) as [Group, Group];
    const required = requiredCapabilitiesExtension({ credentials: [1] });
    const grown = (group: Group, args: Partial<CreateCommitArgs>) =>
      commit(group, { appData, ...args }).pending;
    const typesOf = ({ context }: Group) => context.extensions.map(({ type }) => type);
    const last = grown(alice, { extensions: [required], appDataUpdates: [update(ONE, 'a')] });
    expect(typesOf(last)).toEqual([3, 6]);
    const first = grown(alice, { extensions: [appDataDictionaryExtension([]), required] });
    const changed = grown(first, { appDataUpdates: [update(ONE, 'a')] });
    expect([typesOf(changed), dataOf(changed)]).toEqual([[6, 3], [[ONE, 'a']]]);
    const emptied = grown(changed, { appDataUpdates: [removal(ONE)] });
    expect([typesOf(emptied), dataOf(emptied)]).toEqual([[6, 3], []]);
  });

  it('comes from outside too, where the application has it so', () => {
    const [alice, bob] = groupOf(3) as [Group, Group, Group];
    const info = exportGroupInfo(alice);
    const join = (args: Partial<JoinExternalArgs>) =>
      joinExternal(info, { ...joiner(), appData, ...args }, env);
    const joined = join({ appDataUpdates: [update(ONE, 'hello')] });
    const processed = processCommit(bob, joined.commit, known);
    expect(processed.group.secrets).toEqual(joined.pending.secrets);
    expect(dataOf(joined.pending)).toEqual([[ONE, 'hello']]);
    expect(refusalOf(() => join({ appDataUpdates: [update(OTHER, 'x')] }))).toContain(
      'policy: COMP-04: members only',
    );
  });

  it('COMP-02: is refused for a removal beside another change, or of what is not there', () => {
    const [alice, bob] = groupOf(2) as [Group, Group];
    const { pending, commit: first } = commit(alice, { appData, appDataUpdates: [update(ONE, 'a')] });
    const bobs = processCommit(bob, first, known).group;
    const lists = [[update(ONE, 'b'), removal(ONE)], [removal(ONE), removal(ONE)], [removal(OTHER)]];
    for (const proposals of lists) {
      expect(refusalOf(() => commit(pending, { appData, appDataUpdates: proposals }))).toContain('COMP-02');
      const forged = forgeCommit(pending, { proposals: proposals.map(byValue) }, env);
      expect(refusalOf(() => processCommit(bobs, forged, known))).toContain('invalid-proposal: COMP-02');
    }
  });

  it('COMP-03: is the only way to change component data where the group requires it (OpenMLS #2125)', () => {
    const [alice, bob] = groupOf(2) as [Group, Group];
    const dictionary = appDataDictionaryExtension([{ componentId: ONE, data: utf8('a') }]);
    const requires = requiredCapabilitiesExtension({ proposals: [8] });
    // Sets both, because nothing required it before.
    const { pending, commit: first } = commit(alice, { extensions: [dictionary, requires] });
    const bobs = processCommit(bob, first, hooks).group;
    const other = appDataDictionaryExtension([{ componentId: ONE, data: utf8('b') }]);
    for (const extensions of [[requires], [other, requires], [other]]) {
      const proposal = { type: 'group-context-extensions', extensions } as const;
      expect(refusalOf(() => commit(pending, { extensions }))).toContain('invalid-proposal: COMP-03');
      const forged = forgeCommit(pending, { proposals: [byValue(proposal)] }, env);
      expect(refusalOf(() => processCommit(bobs, forged, hooks))).toContain('invalid-proposal: COMP-03');
    }
    expect(codeOf(() => commit(pending, { extensions: [dictionary] }))).toBe('none');
    const none = commit(alice, { extensions: [requires] }).pending;
    expect(refusalOf(() => commit(none, { extensions: [dictionary, requires] }))).toContain('COMP-03');
    expect(codeOf(() => commit(none, { extensions: [] }))).toBe('none');
  });

  it('COMP-04: is refused where the application does not know the component, or refuses the change', () => {
    const [alice, bob] = groupOf(2) as [Group, Group];
    const proposed = createProposal(bob, update(9, 'a'), env);
    const stored = processProposal(alice, proposed.message);
    let error: unknown;
    try {
      commit(alice, { appData, proposals: [stored] });
    } catch (caught) {
      error = caught;
    }
    expect(error instanceof CryptoError && [error.code, error.proposalRef]).toEqual([
      'invalid-proposal',
      stored.ref,
    ]);
    expect(refusalOf(() => commit(alice, { appDataUpdates: [update(ONE, 'a')] }))).toContain('COMP-04');
    const { pending } = commit(alice, { appData, appDataUpdates: [update(OTHER, 'a')] });
    expect(refusalOf(() => commit(pending, { appData, appDataUpdates: [removal(OTHER)] }))).toContain(
      'policy: COMP-04: keeps 1 bytes',
    );
    const fault = () => {
      throw new TypeError('a bug of the application');
    };
    const broken = applyingAppData({ ...logic, update: fault });
    expect(() => commit(alice, { appData: broken, appDataUpdates: [update(ONE, 'a')] })).toThrow(TypeError);
  });

  it('PROP-13: is refused where a member supports neither it nor the dictionary', () => {
    const appDataUpdates = [update(ONE, 'a')];
    const [alice, bob] = groupOf(3, without('app-data-update')) as [Group, Group, Group];
    expect(refusalOf(() => commit(alice, { appData, appDataUpdates }))).toContain('PROP-13');
    expect(refusalOf(() => createProposal(bob, update(ONE, 'a'), env))).toContain('PROP-13');
    const forged = forgeCommit(bob, { proposals: appDataUpdates.map(byValue) }, env);
    expect(refusalOf(() => processCommit(alice, forged, known))).toContain('invalid-proposal: PROP-13');
    const outside = { ...joiner(), appData, appDataUpdates };
    expect(refusalOf(() => joinExternal(exportGroupInfo(alice), outside, env))).toContain('PROP-13');
    const [anna] = groupOf(2, { capabilities: { proposals: [8] } }) as [Group];
    expect(refusalOf(() => commit(anna, { appData, appDataUpdates }))).toContain('PROP-11');
  });

  it('is refused beyond the limit of components', () => {
    const [alice] = groupOf(2) as [Group, Group];
    const limits = { ...DEFAULT_LIMITS, components: 1 };
    const appDataUpdates = [update(ONE, 'a'), update(OTHER, 'b')];
    expect(codeOf(() => commit(alice, { appData, appDataUpdates, limits }))).toBe('unsupported');
    expect(codeOf(() => commit(alice, { appData, appDataUpdates: [update(ONE, 'a')], limits }))).toBe('none');
  });

  it('is refused with an operation that nobody knows', () => {
    const [alice] = groupOf(2) as [Group, Group];
    const { message } = createProposal(alice, removal(ONE), env, { wireFormat: 'public-message' });
    const at = Buffer.from(message).indexOf(Buffer.from([0, 8, 0x80, 1, 2]));
    expect(codeOf(() => decodeMlsMessage(message))).toBe('none');
    for (const operation of [0, 3]) {
      const changed = message.slice();
      changed[at + 4] = operation;
      expect(codeOf(() => decodeMlsMessage(changed))).toBe('malformed');
    }
  });
});

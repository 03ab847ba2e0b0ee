/** Groups that continue another: after a ReInit, and as a branch (RFC 9420 sections 11.2 and 11.3). */
import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import {
  type CipherSuiteId,
  type Continuation,
  type CreateCommitArgs,
  createCommit,
  createGroup,
  type Extension,
  endGroup,
  type Group,
  joinByWelcome,
  loadGroup,
  processCommit,
  ready,
  requiredCapabilitiesExtension,
  saveEpoch,
} from '../../src/index.ts';
import { refusalOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, type Device, device, keyPackageOf } from './world.ts';

const OLD: CipherSuiteId = 0x0003;
const NEW: CipherSuiteId = 0xf04d;
const env = testEnv('continuation');
const open = { memberCheck: anyone, policy: anything };
const extensions = [requiredCapabilitiesExtension({ credentials: [1] })];
const reInit = { groupId: utf8('next'), suite: NEW, extensions };

beforeAll(ready);

interface Old {
  readonly people: readonly Device[];
  /** The group of each, in the same order. */
  readonly groups: readonly Group[];
}

function ofThree(): Old {
  const conversation = new Conversation(OLD, env);
  const others = [device('bob', env), device('carol', env)];
  conversation.add(conversation.at(0), others);
  const { participants } = conversation;
  return { people: participants.map((each) => each.device), groups: participants.map(({ group }) => group) };
}

/** The same after a ReInit, which Alice commits. The others have stored their group and loaded it again. */
function ended(): Old {
  const { people, groups } = ofThree();
  const { pending, commit } = createCommit(groups[0]!, { ...open, reInit }, env);
  const others = groups.slice(1).map((group) => processCommit(group, commit, open).group);
  const stored = others.map((group) => loadGroup(saveEpoch(group), () => undefined));
  return { people, groups: [pending, ...stored] };
}

interface Next {
  readonly groupId?: Uint8Array;
  readonly suite?: CipherSuiteId;
  readonly extensions?: readonly Extension[];
  readonly adds?: readonly Device[];
  readonly continues?: Continuation;
  /** Commits between the first and the one with the Welcome. */
  readonly args?: Partial<CreateCommitArgs>;
}

/** Begins a group, by the first of the old one. @returns its creator's side, and how the others join */
function begin({ people }: Old, next: Next) {
  const { groupId = reInit.groupId, suite = NEW, adds = people.slice(1), continues } = next;
  const creator = people[0]!;
  const group = createGroup({ suite, groupId, ...creator, extensions: next.extensions ?? extensions }, env);
  const bundles = adds.map((each) => keyPackageOf(each, suite, env));
  const created = createCommit(
    group,
    {
      ...open,
      adds: bundles.map(({ bytes }) => bytes),
      ...(continues && { continues }),
      ...next.args,
    },
    env,
  );
  const join = (at: number, old?: Continuation, psk?: Uint8Array) =>
    joinByWelcome(created.welcome!, bundles[at]!, adds[at]!.signatureKey, {
      memberCheck: anyone,
      ...(old && { continues: old }),
      ...(psk && { psks: () => psk }),
    });
  return { pending: created.pending, join };
}

describe('a group after a ReInit', () => {
  const after = (group: Group): Continuation => ({ usage: 'reinit', group });

  it('is begun and joined by all members of the old one, in another suite', () => {
    const old = ended();
    expect(old.groups.map(({ status }) => status)).toEqual(Array(3).fill('reinitialized'));
    const { pending, join } = begin(old, { continues: after(old.groups[0]!) });
    const joined = [join(0, after(old.groups[1]!)), join(1, after(old.groups[2]!))];
    expect([pending.suite.id, pending.context.epoch]).toEqual([NEW, 1n]);
    for (const group of joined) expect(group.secrets).toEqual(pending.secrets);
  });

  it('may be begun by another member than the one who committed the ReInit', () => {
    const old = ended();
    const turned = { people: [...old.people].reverse(), groups: [...old.groups].reverse() };
    const { pending, join } = begin(turned, { continues: after(turned.groups[0]!) });
    expect(join(1, after(turned.groups[2]!)).secrets).toEqual(pending.secrets);
  });

  it('WELCOME-03: is not joined by who names no old group, another one, or another epoch of it', () => {
    const old = ended();
    const { join } = begin(old, { continues: after(old.groups[0]!) });
    expect(refusalOf(() => join(0))).toContain('unsupported: WELCOME-03');
    const other = ended();
    const earlier = ofThree().groups[1]!;
    expect(refusalOf(() => join(0, { usage: 'branch', group: old.groups[1]! }))).toContain('WELCOME-03');
    const renamed = { ...other.groups[1]!, context: { ...other.groups[1]!.context, groupId: utf8('other') } };
    expect(refusalOf(() => join(0, after(renamed)))).toContain('invalid-commit: WELCOME-03');
    expect(refusalOf(() => join(0, after(earlier)))).toContain('invalid-commit: WELCOME-03');
    const untied = begin(old, {});
    expect(refusalOf(() => untied.join(0, after(old.groups[1]!)))).toContain('invalid-commit: WELCOME-03');
  });

  it('WELCOME-03: is tied to the old one once', () => {
    const old = ended();
    const { groupId, epoch } = old.groups[0]!.context;
    const again = { type: 'resumption', usage: 'reinit', groupId, epoch, nonce: env.random(32) } as const;
    const continues = after(old.groups[0]!);
    expect(refusalOf(() => begin(old, { continues, args: { psks: [again] } }))).toContain('WELCOME-03');
  });

  it('is neither begun nor joined with an old one that was ended, whose secret is known to everybody', () => {
    const old = ended();
    const wiped = { ...old.groups[0]!.secrets, resumptionPsk: new Uint8Array(32) };
    const { join } = begin(old, { continues: after({ ...old.groups[0]!, secrets: wiped }) });
    for (const group of old.groups.slice(0, 2)) endGroup(group);
    expect(refusalOf(() => join(0, after(old.groups[1]!)))).toContain('usage');
    expect(refusalOf(() => begin(old, { continues: after(old.groups[0]!) }))).toContain('usage');
  });

  it('is not joined with the secret of another group of the same name', () => {
    const old = ended();
    const { join } = begin(old, { continues: after(old.groups[0]!) });
    expect(refusalOf(() => join(0, after(ended().groups[1]!)))).toContain('decrypt-failed');
  });

  it('WELCOME-06: is not continued later than in its first commit', () => {
    const old = ended();
    const creator = old.people[0]!;
    const group = createGroup({ suite: NEW, groupId: reInit.groupId, ...creator, extensions }, env);
    const { pending } = createCommit(group, open, env);
    const adds = [keyPackageOf(old.people[1]!, NEW, env).bytes, keyPackageOf(old.people[2]!, NEW, env).bytes];
    const late = { ...open, adds, continues: after(old.groups[0]!) };
    expect(refusalOf(() => createCommit(pending, late, env))).toContain('WELCOME-06');
  });

  it.each([
    ['id', { groupId: utf8('other') }],
    ['suite', { suite: 0x004d }],
    ['extensions', { extensions: [] }],
  ] as const)('WELCOME-07: does not have another %s than the ReInit said', (_, change) => {
    const old = ended();
    const continues = after(old.groups[0]!);
    expect(refusalOf(() => begin(old, { ...change, continues }))).toContain('WELCOME-07');
    // A member that would begin it against its own check is refused by the others.
    const agreed = {
      ...old.groups[0]!.reInit!,
      ...change,
      cipherSuite: 'suite' in change ? change.suite : NEW,
    };
    const lying = after({ ...old.groups[0]!, reInit: agreed });
    const { join } = begin(old, { ...change, continues: lying });
    expect(refusalOf(() => join(0, after(old.groups[1]!)))).toContain('WELCOME-07');
  });

  it('WELCOME-07: does not follow a group that goes on', () => {
    const old = ofThree();
    expect(refusalOf(() => begin(old, { continues: after(old.groups[0]!) }))).toContain('WELCOME-07');
  });

  it('WELCOME-08: leaves nobody of the old group out', () => {
    const old = ended();
    const some = old.people.slice(1, 2);
    expect(refusalOf(() => begin(old, { adds: some, continues: after(old.groups[0]!) }))).toContain(
      'WELCOME-08',
    );
    const lenient = { ...after(old.groups[0]!), isSameMember: () => true };
    const { join } = begin(old, { adds: some, continues: lenient });
    expect(refusalOf(() => join(0, after(old.groups[1]!)))).toContain('WELCOME-08');
  });
});

describe('a branch of a group', () => {
  const of = (group: Group): Continuation => ({ usage: 'branch', group });
  const aside = { groupId: utf8('aside'), suite: OLD, extensions: [] };

  it('is begun and joined by some of its members, while the group goes on', () => {
    const old = ofThree();
    const { pending, join } = begin(old, { ...aside, adds: [old.people[2]!], continues: of(old.groups[0]!) });
    const joined = join(0, of(old.groups[2]!));
    expect(joined.secrets).toEqual(pending.secrets);
    expect(joined.context.epoch).toBe(1n);
    const healed = createCommit(old.groups[0]!, open, env);
    expect(processCommit(old.groups[2]!, healed.commit, open).group.secrets).toEqual(healed.pending.secrets);
  });

  it('is judged by what the application takes for the same member', () => {
    const old = ofThree();
    const renewed: Device = { ...device('carol, again', env) };
    const isSameMember = () => true;
    const strict = { ...aside, adds: [renewed], continues: of(old.groups[0]!) };
    expect(refusalOf(() => begin(old, strict))).toContain('WELCOME-09');
    const continues = { ...of(old.groups[0]!), isSameMember };
    const { join } = begin(old, { ...aside, adds: [renewed], continues });
    expect(join(0, { ...of(old.groups[2]!), isSameMember }).status).toBe('active');
    expect(refusalOf(() => join(0, of(old.groups[2]!)))).toContain('WELCOME-09');
  });

  it('is refused where the application takes the same credential for another member', () => {
    const old = ofThree();
    const continues = { ...of(old.groups[0]!), isSameMember: () => false };
    expect(refusalOf(() => begin(old, { ...aside, continues }))).toContain('WELCOME-09');
  });

  it('WELCOME-09: is of the same suite', () => {
    const old = ofThree();
    const next = { ...aside, suite: NEW, continues: of(old.groups[0]!) };
    expect(refusalOf(() => begin(old, next))).toContain('WELCOME-09');
  });
});

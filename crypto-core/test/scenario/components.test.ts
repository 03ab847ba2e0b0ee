/** Components of the draft of MLS extensions: their data, their authenticated data, and secrets of their own. */
import { beforeAll, describe, expect, it } from 'vitest';
import { GROUP_BINDING_EXTENSION } from '../../src/account/index.ts';
import { EMPTY, toHex, utf8 } from '../../src/bytes.ts';
import {
  appDataDictionaryExtension,
  ComponentId,
  createCommit,
  createGroup,
  createKeyPackage,
  createProposal,
  decodeComponentIds,
  decodeSafeAad,
  decryptApplication,
  encodeComponentIds,
  encodeSafeAad,
  encryptApplication,
  endGroup,
  exportGroupInfo,
  exportSecret,
  findAppData,
  type Group,
  hasSafeAad,
  isLastResort,
  joinExternal,
  LAST_RESORT_COMPONENT,
  loadGroup,
  processCommit,
  processProposal,
  ready,
  safeExportSecret,
  saveEpoch,
} from '../../src/index.ts';
import { startExporterTree, takeExporterSecret } from '../../src/schedule/exporterTree.ts';
import { deriveEpochSecrets } from '../../src/schedule/keySchedule.ts';
import { expandWithLabel } from '../../src/suite/labels.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, device, keyPackageOf, SUITES } from './world.ts';

const env = testEnv('components');
const [ONE, OTHER] = [0x8001, 0x8002];
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

function pair(suite: (typeof SUITES)[number]): [Group, Group] {
  const conversation = new Conversation(suite, env);
  conversation.add(conversation.at(0), [device('bob', env)]);
  return [conversation.at(0).group, conversation.at(1).group];
}

const reloaded = (group: Group) => loadGroup(saveEpoch(group), () => undefined);

describe.each(SUITES)('the safe exporter in suite %i', (suite) => {
  it('gives the members of an epoch one secret for each component, whatever the order', () => {
    const [alice, bob] = pair(suite);
    const alices = [ONE, OTHER, 0, 0xffff].map((id) => toHex(safeExportSecret(alice, id)));
    const bobs = [0xffff, OTHER, 0, ONE].map((id) => toHex(safeExportSecret(bob, id)));
    expect(alices).toEqual([bobs[3], bobs[1], bobs[2], bobs[0]]);
    expect(new Set([...alices, toHex(exportSecret(alice, 'label', EMPTY, 32))]).size).toBe(5);
  });

  it('gives each secret once, across a restart too, and keeps nothing that leads to it', () => {
    const [alice, bob] = pair(suite);
    const [root = EMPTY] = alice.exporterTree?.values() ?? [];
    safeExportSecret(alice, ONE);
    const later = reloaded(alice);
    for (const group of [alice, later]) expect(codeOf(() => safeExportSecret(group, ONE))).toBe('usage');
    expect(toHex(safeExportSecret(later, OTHER))).toBe(toHex(safeExportSecret(bob, OTHER)));
    expect([...root]).toEqual([...new Uint8Array(32)]);
    // 16 levels below the root, and a second leaf under the same copath.
    expect(alice.exporterTree?.size).toBe(16);
    const left = [...(alice.exporterTree?.values() ?? [])].map(toHex);
    const secret = toHex(safeExportSecret(bob, ONE));
    expect(left).not.toContain(secret);
  });

  it('is a walk from application_export_secret to the leaf of the component', () => {
    const { kdf } = getSuite(suite);
    const { applicationExportSecret } = deriveEpochSecrets(getSuite(suite), new Uint8Array(32).fill(1));
    let secret: Uint8Array = applicationExportSecret.slice();
    for (let bit = 15; bit >= 0; bit -= 1) {
      const side = utf8((ONE >> bit) & 1 ? 'right' : 'left');
      secret = expandWithLabel(getSuite(suite), secret, 'tree', side, kdf.Nh);
    }
    expect(takeExporterSecret(getSuite(suite), startExporterTree(applicationExportSecret), ONE)).toEqual(
      secret,
    );
  });

  it('refuses what is no component, a group that has ended, and an epoch stored without it', () => {
    const [alice, bob] = pair(suite);
    const answers = [-1, 0x10000, 1.5, Number.NaN].map((id) => codeOf(() => safeExportSecret(alice, id)));
    expect(new Set(answers)).toEqual(new Set(['usage']));
    const without = { ...alice, exporterTree: undefined };
    expect(codeOf(() => safeExportSecret(without, ONE))).toBe('missing-key');
    expect(codeOf(() => safeExportSecret(reloaded(without), ONE))).toBe('missing-key');
    const root = [...(bob.exporterTree?.values() ?? [])];
    endGroup(bob);
    expect(root).toEqual([new Uint8Array(32)]);
    expect(codeOf(() => safeExportSecret(bob, ONE))).toBe('usage');
  });
});

describe('a dictionary of component data', () => {
  const entries = [
    { componentId: OTHER, data: utf8('other') },
    { componentId: ONE, data: utf8('one') },
  ];

  it('is written by ascending component and read in each place that takes it', () => {
    const extension = appDataDictionaryExtension(entries);
    expect(findAppData([extension])).toEqual(entries.toReversed());
    expect(findAppData([])).toEqual([]);
    const owner = { ...device('anna', env), leaf: { extensions: [extension] } };
    const group = createGroup({ suite: 0x0003, groupId: utf8('g'), ...owner, extensions: [extension] }, env);
    expect(findAppData(group.context.extensions)).toEqual(entries.toReversed());
    const { keyPackage } = keyPackageOf(owner, 0x0003, env);
    expect(findAppData(keyPackage.leafNode.extensions)).toEqual(entries.toReversed());
    expect(codeOf(() => appDataDictionaryExtension([...entries, ...entries]))).toBe('usage');
  });

  it('COMP-01: is refused out of order, with a component twice, cut, or longer', () => {
    const { type, data } = appDataDictionaryExtension(entries);
    const read = (bytes: Uint8Array) => refusalOf(() => findAppData([{ type, data: bytes }]));
    // Each entry: two bytes of its number, one of a length, its data.
    const [one, other] = [data.subarray(1, 7), data.subarray(7)];
    expect(read(Uint8Array.of(data.length - 1, ...other, ...one))).toContain('malformed: COMP-01');
    expect(read(Uint8Array.of(12, ...one, ...one))).toContain('malformed: COMP-01');
    expect(read(data.subarray(0, -1))).toContain('malformed');
    expect(read(Uint8Array.of(...data, 0))).toContain('malformed');
  });

  it('marks a KeyPackage as the one of last resort, as the extension of older drafts does', () => {
    const now = BigInt(Math.floor(env.now() / 1000));
    const args = {
      suite: 0x0003,
      ...device('bob', env),
      lifetime: { notBefore: now, notAfter: now + 60n },
    } as const;
    const extensions = [appDataDictionaryExtension([LAST_RESORT_COMPONENT])];
    const answers = [{ ...args, extensions }, { ...args, lastResort: true }, args].map((each) =>
      isLastResort(createKeyPackage(each, env).keyPackage),
    );
    expect(answers).toEqual([true, true, false]);
    expect(LAST_RESORT_COMPONENT).toEqual({ componentId: 4, data: EMPTY });
  });
});

describe('SafeAAD', () => {
  it('carries the data of several components beside a message', () => {
    const supported = encodeComponentIds([ONE, OTHER]);
    expect(decodeComponentIds(supported)).toEqual([ONE, OTHER]);
    const safeAad = appDataDictionaryExtension([{ componentId: ComponentId.safeAad, data: supported }]);
    const leaf = { capabilities: { extensions: [safeAad.type] } };
    const owner = { ...device('anna', env), leaf };
    const group = createGroup({ suite: 0x0003, groupId: utf8('g'), ...owner, extensions: [safeAad] }, env);
    expect([hasSafeAad(group), hasSafeAad(pair(0x0003)[0])]).toEqual([true, false]);
    const [alice, bob] = pair(0x0003);
    const items = [
      { componentId: OTHER, data: utf8('second') },
      { componentId: ONE, data: EMPTY },
    ];
    const message = encryptApplication(alice, utf8('text'), encodeSafeAad(items), env);
    const { authenticatedData } = decryptApplication(bob, message);
    expect(decodeSafeAad(authenticatedData)).toEqual(items.toReversed());
    expect(decodeSafeAad(encodeSafeAad([]))).toEqual([]);
    expect(codeOf(() => encodeSafeAad([...items, ...items]))).toBe('usage');
    expect(codeOf(() => decodeSafeAad(utf8('no framing')))).toBe('malformed');
  });

  it('COMP-05: is what every message carries in a group with safe_aad, and no key is used up for another', () => {
    const safeAad = appDataDictionaryExtension([
      { componentId: ComponentId.safeAad, data: encodeComponentIds([]) },
    ]);
    const leaf = { capabilities: { extensions: [safeAad.type, GROUP_BINDING_EXTENSION] } };
    const conversation = new Conversation(0x0003, env, leaf);
    conversation.add(conversation.at(0), [device('bob', env, leaf)]);
    const before = { alice: conversation.at(0).group, bob: conversation.at(1).group };
    const entered = createCommit(before.alice, { ...hooks, extensions: [safeAad] }, env);
    const alice = entered.pending;
    const bob = processCommit(before.bob, entered.commit, hooks).group;
    const unframed = utf8('no framing');
    // A member that keeps to no rule believes that the group has no such component.
    const mallory = { ...alice, context: { ...alice.context, extensions: [] } };
    const forged = [
      encryptApplication(mallory, utf8('text'), unframed, env),
      createProposal(mallory, { type: 'update' }, env, { authenticatedData: unframed }).message,
      createProposal(mallory, { type: 'update' }, env, {
        authenticatedData: unframed,
        wireFormat: 'public-message',
      }).message,
      createCommit(mallory, { ...hooks, authenticatedData: unframed }, env).commit,
    ];
    const take = [
      (bytes: Uint8Array) => decryptApplication(bob, bytes),
      (bytes: Uint8Array) => processProposal(bob, bytes),
      (bytes: Uint8Array) => processProposal(bob, bytes),
      (bytes: Uint8Array) => processCommit(bob, bytes, hooks),
    ];
    bob.secretTree.takeChanges();
    for (const [at, bytes] of forged.entries()) {
      expect(refusalOf(() => take[at]!(bytes))).toContain('malformed: COMP-05');
    }
    expect(bob.secretTree.takeChanges()).toEqual({ puts: [], deletes: [] });
    expect(codeOf(() => encryptApplication(alice, utf8('text'), unframed, env))).toBe('usage');
    const framed = encryptApplication(alice, utf8('text'), encodeSafeAad([]), env);
    expect(decryptApplication(bob, framed).authenticatedData).toEqual(encodeSafeAad([]));
    const { commit, pending } = createCommit(alice, hooks, env);
    expect(processCommit(bob, commit, hooks).authenticatedData).toEqual(encodeSafeAad([]));
    expect(codeOf(() => processCommit(pending, framed, hooks))).toBe('malformed');
    expect(codeOf(() => decryptApplication(pending, framed))).toBe('wrong-epoch');
    const join = joinExternal(entered.groupInfo, { ...device('carol', env, leaf), memberCheck: anyone }, env);
    expect(processCommit(alice, join.commit, hooks).group.secrets).toEqual(join.pending.secrets);
    const badly = { ...device('dave', env, leaf), memberCheck: anyone, authenticatedData: unframed };
    expect(codeOf(() => joinExternal(entered.groupInfo, badly, env))).toBe('usage');
  });

  it('COMP-01: keeps a group from having component data that nobody can read', () => {
    const broken = { type: 0x0006, data: utf8('no list') };
    const leaf = { capabilities: { extensions: [broken.type] } };
    const owner = device('anna', env, leaf);
    const group = createGroup({ suite: 0x0003, groupId: utf8('g'), ...owner }, env);
    const create = () =>
      createGroup({ suite: 0x0003, groupId: utf8('g'), ...owner, extensions: [broken] }, env);
    expect([
      codeOf(create),
      codeOf(() => createCommit(group, { ...hooks, extensions: [broken] }, env)),
    ]).toEqual(['malformed', 'malformed']);
    // Its signer made the group without the check.
    const info = exportGroupInfo({ ...group, context: { ...group.context, extensions: [broken] } });
    const join = () => joinExternal(info, { ...device('bob', env, leaf), memberCheck: anyone }, env);
    expect(codeOf(join)).toBe('malformed');
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, utf8 } from '../../src/bytes.ts';
import {
  createCommit,
  createProposal,
  decryptApplication,
  encryptApplication,
  endGroup,
  exportGroupInfo,
  exportSecret,
  type Group,
  groupView,
  joinByWelcome,
  processCommit,
  processProposal,
  ready,
  reloadSecretTree,
  saveEpoch,
} from '../../src/index.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, device, groupOf, keyPackageOf, SUITES } from './world.ts';

const env = testEnv('ending');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

function secretsOf(group: Group): readonly Uint8Array[] {
  const { secrets, privateKeys, pendingUpdates, signaturePrivateKey, exporterTree } = group;
  return [
    ...Object.values(secrets),
    ...privateKeys.values(),
    ...pendingUpdates.values(),
    signaturePrivateKey,
    ...(exporterTree?.values() ?? []),
  ];
}

describe.each(SUITES)('a group of suite %i that was ended', (suite) => {
  it('has no secrets any more, and every call with it is refused', () => {
    const conversation = groupOf(3, suite, env);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const message = bob.send('text', env);
    const { commit } = bob.commit({}, env);
    const { group } = createProposal(alice.group, { type: 'update' }, env);
    decryptApplication(group, message);
    const secrets = secretsOf(group);
    expect(secrets.filter((secret) => secret.every((octet) => octet === 0))).toEqual([]);

    endGroup(group);
    expect(secrets.filter((secret) => secret.some((octet) => octet !== 0))).toEqual([]);
    const calls: (() => unknown)[] = [
      () => encryptApplication(group, EMPTY, EMPTY, env),
      () => decryptApplication(group, message),
      () => createProposal(group, { type: 'update' }, env),
      () => processProposal(group, message),
      () => createCommit(group, hooks, env),
      () => processCommit(group, commit, hooks),
      () => exportSecret(group, 'label', EMPTY, 32),
      () => exportGroupInfo(group),
      () => saveEpoch(group),
      () => reloadSecretTree(group, () => undefined),
      () => group.secretTree.takeChanges(),
    ];
    expect(calls.map(codeOf)).toEqual(calls.map(() => 'usage'));
  });

  it('takes nothing from the epochs before and after it, of which each can go on or be ended', () => {
    const conversation = groupOf(4, suite, env);
    const [alice, bob, carol] = [conversation.at(0), conversation.at(1), conversation.at(2)];
    const before = alice.group;
    const bobBefore = bob.group;
    const { pending, commit } = createCommit(before, hooks, env);
    const { group } = processCommit(bobBefore, commit, hooks);
    endGroup(before);
    endGroup(bobBefore);
    const message = encryptApplication(pending, utf8('text'), EMPTY, env);
    expect(decryptApplication(group, message).plaintext).toEqual(utf8('text'));
    const answer = createCommit(group, hooks, env);
    expect(processCommit(pending, answer.commit, hooks).sender).toBe(group.ownLeaf);
    endGroup(answer.pending);
    expect(exportSecret(group, 'label', EMPTY, 32)).toEqual(exportSecret(pending, 'label', EMPTY, 32));
    expect(carol.group.status).toBe('active');
  });

  it('leaves the keys of the device, its key package and what was read from it to their owners', () => {
    const conversation = groupOf(2, suite, env);
    const newcomer = device('newcomer', env);
    const bundle = keyPackageOf(newcomer, suite, env);
    const { welcome } = conversation.at(0).commit({ adds: [bundle.bytes] }, env);
    const join = () =>
      joinByWelcome(welcome ?? EMPTY, bundle, newcomer.signatureKey, { memberCheck: anyone });
    const group = join();
    const { epochAuthenticator } = groupView(group);
    const authenticator = epochAuthenticator.slice();
    endGroup(group);
    expect(epochAuthenticator).toEqual(authenticator);
    expect(groupView(join()).epochAuthenticator).toEqual(authenticator);
    const signature = getSuite(suite).sign(newcomer.signatureKey.privateKey, utf8('text'));
    expect(getSuite(suite).verify(newcomer.signatureKey.publicKey, utf8('text'), signature)).toBe(true);
  });
});

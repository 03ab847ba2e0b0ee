import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY } from '../../src/bytes.ts';
import {
  createCommit,
  createGroup,
  exportGroupInfo,
  exportSecret,
  joinExternal,
  processCommit,
  ready,
} from '../../src/index.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { anyone, anything, device, groupOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { forgeCommit } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('bounds');
const hooks = { memberCheck: anyone, policy: anything };
const LAST_EPOCH = 2n ** 64n - 1n;

beforeAll(ready);

describe('the last epoch that there is a number for', () => {
  it('is not joined from outside, and has no commits', () => {
    const conversation = groupOf(2, SUITE, env);
    const { group } = conversation.at(0);
    const at = (epoch: bigint) => ({ ...group, context: { ...group.context, epoch } });
    const join = (epoch: bigint) => () =>
      joinExternal(exportGroupInfo(at(epoch)), { ...device('joiner', env), memberCheck: anyone }, env);
    expect(codeOf(join(LAST_EPOCH))).toBe('key-exhausted');
    expect(codeOf(join(LAST_EPOCH - 1n))).toBe('none');
    expect(codeOf(() => createCommit(at(LAST_EPOCH), hooks, env))).toBe('key-exhausted');

    const bob = conversation.at(1).group;
    const lateBob = { ...bob, context: { ...bob.context, epoch: LAST_EPOCH - 1n } };
    const commit = forgeCommit(lateBob, {}, env);
    expect(refusalOf(() => processCommit(at(LAST_EPOCH - 1n), commit, hooks))).toBe('none');
    expect(codeOf(() => processCommit(at(LAST_EPOCH), commit, hooks))).toBe('wrong-epoch');
  });
});

describe('exportSecret', () => {
  const group = () => groupOf(2, SUITE, env).at(0).group;

  it.each([-1, 0, 1.5, Number.NaN, Infinity, 8161, 2 ** 32 + 32])('refuses a length of %s', (length) => {
    expect(codeOf(() => exportSecret(group(), 'label', EMPTY, length))).toBe('usage');
  });

  it.each([1, 31, 32, 33, 8160])('gives %i bytes', (length) => {
    const secret = exportSecret(group(), 'label', EMPTY, length);
    expect(secret.length).toBe(length);
    expect(secret.subarray(-16).every((octet) => octet === 0) && length > 1).toBe(false);
  });
});

describe('createGroup', () => {
  it('refuses a credential that nobody would accept', () => {
    const { signatureKey } = device('creator', env);
    const credential = { type: 'x509', certificates: [] } as const;
    const create = () => createGroup({ suite: SUITE, groupId: EMPTY, credential, signatureKey }, env);
    expect(codeOf(create)).toBe('invalid-credential');
  });

  it('refuses a group id that nobody would read', () => {
    const { credential, signatureKey } = device('creator', env);
    const create = (length: number) => () =>
      createGroup({ suite: SUITE, groupId: new Uint8Array(length), credential, signatureKey }, env);
    expect(codeOf(create(256))).toBe('none');
    expect(codeOf(create(257))).toBe('usage');
  });
});

/** The post-quantum suite has two numbers: the one of the private range, and the one that it had before. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ownCapabilities } from '../../src/group/ownLeaf.ts';
import { createCommit, ready } from '../../src/index.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { forgeKeyPackage } from '../tamper/forge.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, device, keyPackageOf } from './world.ts';

beforeAll(ready);

const env = testEnv('suite numbers');
const open = { memberCheck: anyone, policy: anything };

describe('the suite with X-Wing', () => {
  it('plays a conversation at 0xF04D: by Welcome, from outside, after a removal', () => {
    const conversation = new Conversation(0xf04d, env);
    conversation.add(conversation.at(0), [device('bob', env), device('carol', env)]);
    conversation.joinFromOutside(device('laptop', env));
    conversation.remove(conversation.at(1), [conversation.at(2)]);
    expect(conversation.participants).toHaveLength(3);
    expect(conversation.disagreements()).toEqual([]);
    expect(conversation.at(0).group.context.cipherSuite).toBe(0xf04d);
  });

  it.each([
    [0xf04d, 0x004d],
    [0x004d, 0xf04d],
  ] as const)('keeps its numbers apart: a group at %i takes no KeyPackage of %i', (suite, other) => {
    const { group } = new Conversation(suite, env).at(0);
    const { bytes } = keyPackageOf(device('bob', env), other, env);
    expect(codeOf(() => createCommit(group, { ...open, adds: [bytes] }, env))).toBe('invalid-key-package');
  });

  it('lets a client into a group at 0xF04D only if it lists that number', () => {
    const { group } = new Conversation(0xf04d, env).at(0);
    const capabilities = { ...ownCapabilities(env), cipherSuites: [0x004d, 0x0003] };
    const bytes = forgeKeyPackage(device('older', env), 0xf04d, env, { leaf: { capabilities } });
    expect(refusalOf(() => createCommit(group, { ...open, adds: [bytes] }, env))).toContain('LEAF-02');
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { sealEnvelope } from '../../src/account/envelope.ts';
import { openGroupName, sealGroupName } from '../../src/account/groupName.ts';
import { utf8 } from '../../src/bytes.ts';
import { ready } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('group name');
const groupId = utf8('group:1');

beforeAll(ready);

describe('a sealed group name', () => {
  it.each(['K', 'Keittiöremontti 🛠️', 'ä'.repeat(100)])('opens as %s', (name) => {
    const key = env.random(32);
    expect(openGroupName(key, groupId, sealGroupName(key, groupId, name, env))).toBe(name);
  });

  it('shows its length in steps of 64 bytes only', () => {
    const lengths = ['a', 'a'.repeat(62), 'a'.repeat(64)].map(
      (name) => sealGroupName(env.random(32), groupId, name, env).length,
    );
    expect(lengths[1]).toBe(lengths[0]);
    expect(lengths[2]).toBe(lengths[0]! + 64);
  });

  it('is refused under another key or group, and when altered, cut or of another shape', () => {
    const key = env.random(32);
    const sealed = sealGroupName(key, groupId, 'Kitchen', env);
    expect(codeOf(() => openGroupName(env.random(32), groupId, sealed))).toBe('decrypt-failed');
    expect(codeOf(() => openGroupName(key, utf8('group:2'), sealed))).toBe('decrypt-failed');
    for (let at = 1; at < sealed.length; at++) {
      const altered = sealed.slice();
      altered[at]! ^= 1;
      expect(codeOf(() => openGroupName(key, groupId, altered))).toBe('decrypt-failed');
    }
    expect(codeOf(() => openGroupName(key, groupId, sealed.subarray(0, 20)))).toBe('decrypt-failed');
    const shapes = [Uint8Array.of(1, 0xff), Uint8Array.of(9, 65), Uint8Array.of(1, 65, 0, 1)];
    for (const plaintext of shapes) {
      const bad = sealEnvelope(key, groupId, plaintext, env);
      expect(codeOf(() => openGroupName(key, groupId, bad))).toBe('malformed');
    }
  });
});

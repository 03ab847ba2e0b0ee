import { describe, expect, it } from 'vitest';
import { concat, toHex } from '../../src/bytes.ts';
import { decode, type Reader } from '../../src/codec/reader.ts';
import { encode, type Writer } from '../../src/codec/writer.ts';
import { readCommit, writeCommit } from '../../src/structs/commit.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { readRatchetTreeNodes, writeRatchetTreeNodes } from '../../src/structs/node.ts';
import {
  type ProposalType,
  ProposalTypeValue,
  readProposal,
  writeProposal,
} from '../../src/structs/proposal.ts';
import { readGroupSecrets, writeGroupSecrets } from '../../src/structs/welcome.ts';
import { fromHex, mlsVectors } from './vectors.ts';

type Vector = Record<string, string>;

/** The working group has published none of the others. */
const PROPOSALS: Record<Exclude<ProposalType, 'app-data-update' | 'self-remove'>, string> = {
  add: 'add_proposal',
  update: 'update_proposal',
  remove: 'remove_proposal',
  psk: 'pre_shared_key_proposal',
  reinit: 're_init_proposal',
  'external-init': 'external_init_proposal',
  'group-context-extensions': 'group_context_extensions_proposal',
};

const MESSAGES: Record<string, string> = {
  mls_welcome: 'welcome',
  mls_group_info: 'group-info',
  mls_key_package: 'key-package',
  public_message_application: 'public-message',
  public_message_proposal: 'public-message',
  public_message_commit: 'public-message',
  private_message: 'private-message',
};

const vectors = mlsVectors<Vector>('messages');

function field(vector: Vector, name: string): string {
  const value = vector[name];
  if (value === undefined) throw new Error(`the vector has no ${name}`);
  return value;
}

function reencode<T>(hex: string, read: (r: Reader) => T, write: (w: Writer, value: T) => void): string {
  // A copy is written anew, while a commit that was read keeps its bytes.
  const value = decode(fromHex(hex), read);
  const [kept, written] = [value, structuredClone(value)].map((each) => toHex(encode(each, write)));
  expect(kept).toBe(written);
  return written ?? '';
}

describe('messages', () => {
  it.each(Object.entries(MESSAGES))('%s decodes as %s and encodes to the same bytes', (name, wireFormat) => {
    for (const vector of vectors) {
      const message = decodeMlsMessage(fromHex(field(vector, name)));
      expect(message.wireFormat).toBe(wireFormat);
      expect(toHex(encodeMlsMessage(structuredClone(message)))).toBe(field(vector, name));
    }
  });

  it.each(Object.entries(PROPOSALS))('the %s proposal encodes to the same bytes', (type, name) => {
    const value = ProposalTypeValue[type as ProposalType];
    // The vectors hold the body of a proposal without its type.
    const prefix = Uint8Array.of(value >> 8, value & 0xff);
    for (const vector of vectors) {
      const bytes = concat(prefix, fromHex(field(vector, name)));
      expect(reencode(toHex(bytes), readProposal, writeProposal)).toBe(toHex(bytes));
    }
  });

  it('the ratchet tree, group secrets and commit encode to the same bytes', () => {
    for (const vector of vectors) {
      const tree = field(vector, 'ratchet_tree');
      expect(reencode(tree, readRatchetTreeNodes, writeRatchetTreeNodes)).toBe(tree);
      const secrets = field(vector, 'group_secrets');
      expect(reencode(secrets, readGroupSecrets, writeGroupSecrets)).toBe(secrets);
      expect(reencode(field(vector, 'commit'), readCommit, writeCommit)).toBe(field(vector, 'commit'));
    }
  });
});

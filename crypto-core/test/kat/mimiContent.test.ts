/** The example messages of the MIMI content draft, and their message ids. */
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import {
  CONTENT_EXTENSION,
  decodeMimiContent,
  encodeMimiContent,
  mimiMessageId,
} from '../../src/content/index.ts';
import { carried, readSums } from './origins.mjs';
import { readCarried, report } from './vectors.ts';

const names = [...readSums(carried).keys()]
  .map((name) => /^mimi\/(.*)\.cbor$/.exec(name)?.[1])
  .filter((name) => name !== undefined);
report('mimi', names.length, '');

/** Octets, whatever array type they came in. */
function read(name: string): Uint8Array {
  return new Uint8Array(readCarried(`mimi/${name}`));
}

describe.each(names)("the draft's message '%s'", (name) => {
  const message = read(`${name}.cbor`);

  it('reads, and is written as it was', () => {
    expect(toHex(encodeMimiContent(decodeMimiContent(message)))).toBe(toHex(message));
  });

  it('has the message id that the draft says', () => {
    const { extensions, salt } = decodeMimiContent(message);
    const [sender, room] = [CONTENT_EXTENSION.senderUri, CONTENT_EXTENSION.roomUri].map((name) => {
      const uri = extensions.get(name);
      return typeof uri === 'string' ? uri : '';
    });
    const words = readCarried(`mimi/${name}.edn`).toString();
    const [, first, second] = /message ID = h'([0-9a-f]+)[\s#]+([0-9a-f]+)'/.exec(words) ?? [];
    expect(toHex(mimiMessageId({ sender: sender ?? '', room: room ?? '' }, message, salt))).toBe(
      `${first}${second}`,
    );
  });
});

it('the draft has 14 messages, and what they say is read', () => {
  expect(names).toHaveLength(14);
  const reaction = decodeMimiContent(read('reaction.cbor'));
  expect(reaction.body).toMatchObject({
    kind: 'single',
    disposition: 2,
    contentType: 'text/plain;charset=utf-8',
  });
  expect(toHex(reaction.inReplyTo ?? new Uint8Array(0))).toBe(
    '017ce54837404c3696e0c747b985cb172716d0ed0a3d249ca63ace7d82a096f4',
  );
  expect(decodeMimiContent(read('delete.cbor')).body.kind).toBe('null');
  expect(decodeMimiContent(read('expiring.cbor')).expires).toEqual({ relative: false, time: 1644390004 });
  expect(decodeMimiContent(read('attachment.cbor')).body).toMatchObject({
    kind: 'external',
    size: 708234961,
    filename: 'bigfile.mp4',
  });
  expect(decodeMimiContent(read('multipart-3.cbor')).body).toMatchObject({
    kind: 'multi',
    semantics: 'chooseOne',
    parts: [{ kind: 'multi' }, { kind: 'multi' }],
  });
});

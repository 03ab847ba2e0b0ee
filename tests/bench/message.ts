/** The message that every contender sends, so that only the libraries differ. */

const encoder = new TextEncoder();

/** As the product names a group. */
export const GROUP_ID = encoder.encode('group:9f1c6f0e-3b57-4a52-9a6e-0d3a6f6f1c55');

export function plaintextOf(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => 32 + (i % 90));
}

export const AUTHENTICATED_DATA = new Uint8Array();

/** A short identity, so that a library that writes all members with every message isn't charged for long ones. */
export function identityOf(member: number): Uint8Array {
  return encoder.encode(`member-${String(member).padStart(4, '0')}`);
}

/** @throws Error when a message did not come out as it went in: a benchmark of a broken path is worth nothing */
export function assertPlaintext(received: Uint8Array, sent: Uint8Array): void {
  if (received.length !== sent.length || received.some((byte, i) => byte !== sent[i])) {
    throw new Error('a message came out other than it went in');
  }
}

import { DISPOSITION, type ExternalPart } from '@sinetti/crypto-core/content';

/** A file as content names it, with nothing behind its address. */
export const attachedPdf: ExternalPart = {
  kind: 'external',
  disposition: DISPOSITION.attachment,
  language: '',
  contentType: 'application/pdf',
  url: 'sinetti:blob/AAAAAAAAAAAAAAAAAAAAAA',
  expires: 0,
  size: 70_000,
  encAlg: 29,
  key: new Uint8Array(32).fill(1),
  nonce: new Uint8Array(),
  aad: new Uint8Array(),
  hashAlg: 1,
  contentHash: new Uint8Array(32).fill(2),
  description: 'A cat',
  filename: 'cat.pdf',
};

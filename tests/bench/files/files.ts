// Measures sealing and opening files. A program of its own: files.js <MiB> <rounds> prints JSON.
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import sodium from 'libsodium-wrappers';
import {
  FILE_CHUNK_LENGTH,
  openFileChunk,
  SEALED_FILE_CHUNK_LENGTH,
  sealedFileLength,
  sealFileChunk,
} from '../../../crypto-core/src/content/index.ts';
import { ready } from '../../../crypto-core/src/index.ts';
import { testEnv } from '../../../crypto-core/test/testEnv.ts';

const [mebibytes, rounds] = process.argv.slice(2).map(Number) as [number, number];
const length = mebibytes * 1024 * 1024;
const env = testEnv('files');
const key = env.random(32);
const nonce = env.random(12);

await ready();
const file = new Uint8Array(length);
for (let at = 0; at < length; at += FILE_CHUNK_LENGTH) file.set(env.random(1024), at);
const sealed = new Uint8Array(sealedFileLength(length));
const count = length / FILE_CHUNK_LENGTH;
const chunk = (index: number) => file.subarray(index * FILE_CHUNK_LENGTH, (index + 1) * FILE_CHUNK_LENGTH);
const sealedChunk = (from: Uint8Array, index: number) =>
  from.subarray(index * SEALED_FILE_CHUNK_LENGTH, (index + 1) * SEALED_FILE_CHUNK_LENGTH);

const identity = await generateX25519Identity();
const encrypter = new Encrypter();
encrypter.addRecipient(await identityToRecipient(identity));
const decrypter = new Decrypter();
decrypter.addIdentity(identity);
const ofAge = await encrypter.encrypt(file);

const bare = new Uint8Array(sealed.length);
const contenders: Record<string, () => Promise<unknown> | void> = {
  'seal, bare libsodium': () => {
    for (let index = 0; index < count; index += 1) {
      const one = sodium.crypto_aead_chacha20poly1305_ietf_encrypt(chunk(index), null, null, nonce, key);
      bare.set(one, index * SEALED_FILE_CHUNK_LENGTH);
    }
  },
  'open, bare libsodium': () => {
    for (let index = 0; index < count; index += 1) {
      sodium.crypto_aead_chacha20poly1305_ietf_decrypt(null, sealedChunk(bare, index), null, nonce, key);
    }
  },
  'seal, crypto-core': () => {
    for (let index = 0; index < count; index += 1) {
      sealed.set(sealFileChunk({ key, length }, index, chunk(index)), index * SEALED_FILE_CHUNK_LENGTH);
    }
  },
  'open, crypto-core': () => {
    for (let index = 0; index < count; index += 1) {
      openFileChunk({ key, sealedLength: sealed.length }, index, sealedChunk(sealed, index));
    }
  },
  'seal, age-encryption': () => encrypter.encrypt(file),
  'open, age-encryption': () => decrypter.decrypt(ofAge),
};

const measured = Object.fromEntries(Object.keys(contenders).map((name) => [name, [] as number[]]));
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, run] of Object.entries(contenders)) {
    const before = process.cpuUsage();
    await run();
    const { system, user } = process.cpuUsage(before);
    // The first round only warms up.
    if (round > 0) measured[name]?.push(length / (system + user));
  }
}
process.stdout.write(JSON.stringify(measured));

import { beforeAll, describe, expect, it } from 'vitest';
import { concat, toHex } from '../../src/bytes.ts';
import { restoreKeyPackageBundle } from '../../src/group/keyPackage.ts';
import {
  decodeKeyPackage,
  type Group,
  groupView,
  joinByWelcome,
  loadGroup,
  type PskLookup,
  processCommit,
  processProposal,
  ready,
  saveEpoch,
} from '../../src/index.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { given } from './given.mjs';
import { fromHex, mlsVectors } from './vectors.ts';

interface Vector {
  cipher_suite: number;
  external_psks: { psk_id: string; psk: string }[];
  key_package: string;
  signature_priv: string;
  encryption_priv: string;
  init_priv: string;
  welcome: string;
  ratchet_tree: string | null;
  initial_epoch_authenticator: string;
  epochs: { proposals: string[]; commit: string; epoch_authenticator: string }[];
}

beforeAll(ready);

/** The PSKs that the client holds: the vector's external ones, and the resumption PSKs of its past epochs. */
class PskStore {
  readonly #external = new Map<string, Uint8Array>();
  readonly #resumption = new Map<string, Uint8Array>();

  constructor(vector: Vector) {
    for (const { psk_id, psk } of vector.external_psks) this.#external.set(psk_id, fromHex(psk));
  }

  remember({ context, secrets }: Group): void {
    this.#resumption.set(`${toHex(context.groupId)} ${context.epoch}`, secrets.resumptionPsk);
  }

  readonly lookup: PskLookup = (id) =>
    id.type === 'external'
      ? this.#external.get(toHex(id.pskId))
      : this.#resumption.get(`${toHex(id.groupId)} ${id.epoch}`);
}

function join(vector: Vector, psks: PskStore): Group {
  const suite = getSuite(vector.cipher_suite);
  const keyPackage = decodeKeyPackage(fromHex(vector.key_package));
  // Checks that both HPKE private keys belong to the key package.
  const bundle = restoreKeyPackageBundle(
    keyPackage,
    fromHex(vector.init_priv),
    fromHex(vector.encryption_priv),
  );
  return joinByWelcome(
    fromHex(vector.welcome),
    bundle,
    suite.signatureKeyPair(fromHex(vector.signature_priv)),
    {
      memberCheck: () => undefined,
      psks: psks.lookup,
      ...(vector.ratchet_tree === null ? {} : { ratchetTree: fromHex(vector.ratchet_tree) }),
    },
  );
}

/** Saves a group and loads it again, which shows that the records hold all that is needed. */
function restored(group: Group, records: Map<string, Uint8Array>): Group {
  const { puts, deletes } = group.secretTree.takeChanges();
  for (const key of deletes) records.delete(key);
  for (const [key, bytes] of puts) records.set(key, bytes);
  return loadGroup(saveEpoch(group), (key) => records.get(key));
}

/** Follows a vector. @returns the epoch authenticators that the client comes to, one for each epoch */
function follow(vector: Vector): string[] {
  const psks = new PskStore(vector);
  let group = join(vector, psks);
  psks.remember(group);
  const authenticators = [toHex(groupView(group).epochAuthenticator)];
  for (const epoch of vector.epochs) {
    const records = new Map<string, Uint8Array>();
    group = restored(group, records);
    const proposals = epoch.proposals.map((bytes) => processProposal(group, fromHex(bytes)));
    group = restored(group, records);
    ({ group } = processCommit(group, fromHex(epoch.commit), {
      memberCheck: () => undefined,
      policy: () => undefined,
      proposals,
      psks: psks.lookup,
    }));
    authenticators.push(toHex(groupView(group).epochAuthenticator));
    psks.remember(group);
  }
  return authenticators;
}

const files: readonly (readonly [folder: string, name: string])[] = [
  ['mls', 'passive-client-welcome'],
  ['mls', 'passive-client-handling-commit'],
  // Messages between members of another implementation, as one of them saw them.
  ['mls-interop', 'application'],
  ['mls-interop', 'branch'],
  ['mls-interop', 'commit'],
  ['mls-interop', 'external_join'],
  ['mls-interop', 'external_proposals'],
  ['mls-interop', 'reinit'],
  ['mls-interop', 'welcome_join'],
];

describe.each(files.filter(([, name]) => given.name === null || given.name === name))(
  '%s: %s',
  (folder, name) => {
    const vectors = mlsVectors<Vector>(name, folder).map((vector, index) => ({ index, vector }));

    it.each(vectors)(
      'has the published epoch authenticators after each commit of vector $index',
      ({ vector }) => {
        const { initial_epoch_authenticator, epochs } = vector;
        expect(follow(vector)).toEqual([
          initial_epoch_authenticator,
          ...epochs.map(({ epoch_authenticator }) => epoch_authenticator),
        ]);
      },
    );

    it('refuses a welcome with a changed byte', () => {
      const vector = vectors[0]?.vector;
      if (vector === undefined) throw new Error('no vector');
      const welcome = fromHex(vector.welcome);
      const tampered = concat(welcome.subarray(0, -1), Uint8Array.of((welcome.at(-1) ?? 0) ^ 1));
      expect(() => join({ ...vector, welcome: toHex(tampered) }, new PskStore(vector))).toThrow(
        'decrypt-failed',
      );
    });
  },
);

/** crypto-core as the worker uses it: one sealed record for each part of the state that a message moved. */
import {
  type CipherSuiteId,
  createCommit,
  createGroup,
  createKeyPackage,
  createSignatureKeyPair,
  decryptApplication,
  type Env,
  encryptApplication,
  type Group,
  joinByWelcome,
  loadGroup,
  saveEpoch,
} from '@sinetti/crypto-core';
import { sealRecord } from '@sinetti/crypto-core/account';
import { browserEnv } from '../../workers/entry/browserEnv.ts';
import type { Lane } from './lane.ts';
import { AUTHENTICATED_DATA, assertPlaintext, GROUP_ID, identityOf } from './message.ts';
import type { Contender, SetUp } from './report.ts';
import { type StateChange, type StateStore, sizeOf } from './store.ts';

/** A member at rest: the two kinds of record that the worker keeps. */
interface StoredMember {
  readonly epoch: Uint8Array;
  readonly secretTree: ReadonlyMap<string, Uint8Array>;
}

export interface OurGroup {
  readonly contender: Contender;
  readonly sender: StoredMember;
  readonly receiver: StoredMember;
}

const NO_CHECKS = { memberCheck: () => undefined, policy: () => undefined };

/** Numbers that are the same in every run: setting up is not what is measured. */
function seededEnv(seed: number): Env {
  let state = seed;
  // Mulberry32: fast, well spread, and no secret.
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 24;
  }
  return {
    random: (length) => Uint8Array.from({ length }, next),
    now: () => Date.now(),
  };
}

/** One member creates the group and adds all others by one commit; the second of them joins by the Welcome. */
export function buildOurGroup(suite: CipherSuiteId, members: number): OurGroup {
  const env = seededEnv(members);
  const now = BigInt(Math.floor(env.now() / 1000));
  const lifetime = { notBefore: now - 3600n, notAfter: now + 30n * 86_400n };
  const signatureKeys = Array.from({ length: members }, () => createSignatureKeyPair(env));
  const [creatorKey, ...otherKeys] = signatureKeys;
  const others = otherKeys.map((signatureKey, i) =>
    createKeyPackage(
      { suite, credential: { type: 'basic', identity: identityOf(i + 1) }, signatureKey, lifetime },
      env,
    ),
  );
  const created = createGroup(
    {
      suite,
      groupId: GROUP_ID,
      credential: { type: 'basic', identity: identityOf(0) },
      signatureKey: creatorKey!,
    },
    env,
  );
  const adds = others.map(({ bytes }) => bytes);
  const { pending, welcome } = createCommit(created, { adds, ...NO_CHECKS }, env);
  const joined = joinByWelcome(welcome!, others[0]!, otherKeys[0]!, NO_CHECKS);
  return {
    contender: { library: 'crypto-core', suite, members },
    sender: store(pending),
    receiver: store(joined),
  };
}

function store(group: Group): StoredMember {
  return { epoch: saveEpoch(group), secretTree: new Map(group.secretTree.takeChanges().puts) };
}

function load({ epoch, secretTree }: StoredMember): Group {
  return loadGroup(epoch, (key) => secretTree.get(key));
}

/** Measures the storing of an epoch: its record's size, and the time to load a group from it. */
export function epochCost({ receiver }: OurGroup): SetUp['epoch'] {
  const begins = performance.now();
  load(receiver);
  return { bytes: receiver.epoch.length, loadMilliseconds: performance.now() - begins };
}

/** @param state where what moved goes after each message; null to leave it in memory */
export function ourLane(group: OurGroup, plaintext: Uint8Array, state: StateStore | null): Lane {
  const { contender } = group;
  const sender = load(group.sender);
  const receiver = load(group.receiver);
  const storageKey = browserEnv.random(32);
  let sent: Uint8Array[] = [];

  async function save(member: string, { secretTree }: Group): Promise<number> {
    return state === null ? 0 : state.write(sealed(secretTree.takeChanges(), member));
  }
  function sealed({ puts, deletes }: StateChange, member: string): StateChange {
    const prefix = `${contender.suite}/${contender.members}/${member}/`;
    return {
      puts: puts.map(([key, record]) => {
        const name = prefix + key;
        return [name, sealRecord(storageKey, 'ratchets', name, record, browserEnv)];
      }),
      deletes: deletes.map((key) => prefix + key),
    };
  }

  return {
    contender,
    async send(count) {
      sent = [];
      let bytes = 0;
      for (let i = 0; i < count; i++) {
        sent.push(encryptApplication(sender, plaintext, AUTHENTICATED_DATA, browserEnv));
        if (state !== null) bytes += await save('a', sender);
      }
      return state === null ? null : bytes / count;
    },
    async receive() {
      let bytes = 0;
      for (const message of sent) {
        const { plaintext: received } = decryptApplication(receiver, message);
        if (state !== null) bytes += await save('b', receiver);
        assertPlaintext(received, plaintext);
      }
      return state === null ? null : bytes / sent.length;
    },
  };
}

/**
 * The first message of an epoch, the records to store made but not written: it opens the sender's leaf of the secret
 * tree, which takes O(log members) steps.
 */
export function firstMessageLane({ contender, ...stored }: OurGroup, plaintext: Uint8Array): Lane {
  let senders: Group[] = [];
  let receivers: Group[] = [];
  let sent: Uint8Array[] = [];
  return {
    contender,
    prepare(count) {
      senders = Array.from({ length: count }, () => load(stored.sender));
      receivers = Array.from({ length: count }, () => load(stored.receiver));
    },
    async send(count) {
      let bytes = 0;
      sent = senders.map((sender) => {
        const message = encryptApplication(sender, plaintext, AUTHENTICATED_DATA, browserEnv);
        bytes += sizeOf(sender.secretTree.takeChanges());
        return message;
      });
      return bytes / count;
    },
    async receive() {
      let bytes = 0;
      receivers.forEach((receiver, i) => {
        assertPlaintext(decryptApplication(receiver, sent[i]!).plaintext, plaintext);
        bytes += sizeOf(receiver.secretTree.takeChanges());
      });
      return bytes / sent.length;
    },
  };
}

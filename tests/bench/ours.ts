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
import {
  emptyRunningHash,
  entryDigest,
  nextRunningHash,
  splitChainHeader,
  withChainHeader,
} from '@sinetti/crypto-core/content';
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

/** A row of the running hash: a hash, a digest, a device and its claim, as `workers/conversation/chainRows.ts` writes it. */
const CHAIN_ROW_LENGTH = 2 * 32 + 16 + 8;
const USER_ID = '9f1c6f0e-3b57-4a52-9a6e-0d3a6f6f1c55';

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

/**
 * In memory a message goes bytes to bytes, as the other library has it. What is saved is as the product has it: a chain header before the
 * content, and where it is received the digest of the entry, the next running hash and the record of both.
 * @param content of each message
 * @param state where what moved goes after each message; null to leave it in memory
 */
export function ourLane(group: OurGroup, content: Uint8Array, state: StateStore | null): Lane {
  const { contender } = group;
  const sender = load(group.sender);
  const receiver = load(group.receiver);
  const storageKey = browserEnv.random(32);
  let sent: Uint8Array[] = [];

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

  if (state === null) {
    return {
      contender,
      async send(count) {
        sent = Array.from({ length: count }, () =>
          encryptApplication(sender, content, AUTHENTICATED_DATA, browserEnv),
        );
        return null;
      },
      async receive() {
        for (const message of sent) assertPlaintext(decryptApplication(receiver, message).plaintext, content);
        return null;
      },
    };
  }

  /** As far as both have read the log. */
  let position = 0;
  let hash = emptyRunningHash();
  /** Takes an entry into the running hash. @returns the record of it */
  function advance(message: Uint8Array): readonly [string, Uint8Array] {
    position += 1;
    const digest = entryDigest({
      groupId: GROUP_ID,
      position,
      kind: 'application',
      epoch: 1,
      messageId: USER_ID,
      userId: USER_ID,
      deviceId: USER_ID,
      content: message,
    });
    hash = nextRunningHash(hash, digest);
    const row = new Uint8Array(CHAIN_ROW_LENGTH);
    row.set(hash);
    row.set(digest, hash.length);
    const name = `${contender.suite}/${contender.members}/chain/${position}`;
    return [name, sealRecord(storageKey, 'chain', name, row, browserEnv)];
  }

  return {
    contender,
    async send(count) {
      sent = [];
      let bytes = 0;
      for (let i = 0; i < count; i++) {
        const header = { start: 0, position, hash, count: position, sentAt: Date.now() };
        const plaintext = withChainHeader(header, content);
        sent.push(encryptApplication(sender, plaintext, AUTHENTICATED_DATA, browserEnv));
        bytes += await state.write(sealed(sender.secretTree.takeChanges(), 'a'));
      }
      return bytes / count;
    },
    async receive() {
      let bytes = 0;
      for (const message of sent) {
        const received = splitChainHeader(decryptApplication(receiver, message).plaintext).content;
        const { deletes, puts } = sealed(receiver.secretTree.takeChanges(), 'b');
        bytes += await state.write({ puts: [...puts, advance(message)], deletes });
        assertPlaintext(received, content);
      }
      return bytes / sent.length;
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

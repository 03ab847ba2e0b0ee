/** ts-mls doing what crypto-core does, with its own defaults: WebCrypto, and its state as it encodes it. */
import {
  acceptAll,
  type Capabilities,
  type CiphersuiteImpl,
  type ClientState,
  createApplicationMessage,
  createCommit,
  createGroup,
  decodeMlsMessage,
  defaultLifetime,
  emptyPskIndex,
  encodeGroupState,
  encodeMlsMessage,
  generateKeyPackage,
  getCiphersuiteFromName,
  getCiphersuiteImpl,
  joinGroup,
  type Proposal,
  processMessage,
} from 'ts-mls';
import type { Lane } from './lane.ts';
import { AUTHENTICATED_DATA, assertPlaintext, GROUP_ID, identityOf } from './message.ts';
import type { Contender } from './report.ts';
import type { StateStore } from './store.ts';

const SUITE_NAME = 'MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519';

/** The fewest, since each leaf repeats them in the state. */
const CAPABILITIES: Capabilities = {
  versions: ['mls10'],
  ciphersuites: [SUITE_NAME],
  extensions: [],
  proposals: [],
  credentials: ['basic'],
};

/** The first two members' states, in a group where both are past its one commit. */
export interface TsMlsGroup {
  readonly contender: Contender;
  readonly suite: CiphersuiteImpl;
  readonly sender: ClientState;
  readonly receiver: ClientState;
}

export async function buildTsMlsGroup(members: number): Promise<TsMlsGroup> {
  const suite = await getCiphersuiteImpl(getCiphersuiteFromName(SUITE_NAME));
  const [creator, ...others] = await Promise.all(
    Array.from({ length: members }, (_, i) =>
      generateKeyPackage(
        { credentialType: 'basic', identity: identityOf(i) },
        CAPABILITIES,
        defaultLifetime,
        [],
        suite,
      ),
    ),
  );
  const created = await createGroup(GROUP_ID, creator!.publicPackage, creator!.privatePackage, [], suite);
  const extraProposals = others.map(
    ({ publicPackage }): Proposal => ({ proposalType: 'add', add: { keyPackage: publicPackage } }),
  );
  const { newState, welcome } = await createCommit(
    { state: created, cipherSuite: suite },
    { extraProposals },
  );
  const joined = await joinGroup(
    welcome!,
    others[0]!.publicPackage,
    others[0]!.privatePackage,
    emptyPskIndex,
    suite,
    newState.ratchetTree,
  );
  return {
    contender: { library: 'ts-mls', suite: 0x0003, members },
    suite,
    sender: newState,
    receiver: joined,
  };
}

/** @param store where the encoded state goes after each message; null to leave it in memory */
export function tsMlsLane(group: TsMlsGroup, plaintext: Uint8Array, store: StateStore | null): Lane {
  const { contender, suite } = group;
  let { sender, receiver } = group;
  let sent: Uint8Array[] = [];

  async function save(member: string, state: ClientState): Promise<number> {
    if (store === null) return 0;
    const key = `ts-mls/${contender.members}/${member}`;
    return store.write({ puts: [[key, encodeGroupState(state)]], deletes: [] });
  }

  return {
    contender,
    async send(count) {
      sent = [];
      let bytes = 0;
      for (let i = 0; i < count; i++) {
        const { newState, privateMessage } = await createApplicationMessage(
          sender,
          plaintext,
          suite,
          AUTHENTICATED_DATA,
        );
        sender = newState;
        bytes += await save('sender', sender);
        sent.push(encodeMlsMessage({ version: 'mls10', wireformat: 'mls_private_message', privateMessage }));
      }
      return store === null ? null : bytes / count;
    },
    async receive() {
      let bytes = 0;
      for (const message of sent) {
        const decoded = decodeMlsMessage(message, 0)![0];
        if (decoded.wireformat !== 'mls_private_message') throw new Error(decoded.wireformat);
        const result = await processMessage(decoded, receiver, emptyPskIndex, acceptAll, suite);
        if (result.kind !== 'applicationMessage') throw new Error(result.kind);
        receiver = result.newState;
        bytes += await save('receiver', receiver);
        assertPlaintext(result.message, plaintext);
      }
      return store === null ? null : bytes / sent.length;
    },
  };
}

/**
 * The parts of ts-mls that the conversations need, module by module: its index also loads an optional provider, whose
 * own dependency is not installed.
 */
import type { ClientState } from 'ts-mls/clientState.js';
import { createGroupInfoWithRatchetTree, joinGroupExternal } from 'ts-mls/createCommit.js';
import type { CiphersuiteImpl } from 'ts-mls/crypto/ciphersuite.js';
import type { GroupInfo } from 'ts-mls/groupInfo.js';
import type { KeyPackage, PrivateKeyPackage } from 'ts-mls/keyPackage.js';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';

export { type ClientState, createGroup, joinGroup } from 'ts-mls/clientState.js';
export { createCommit } from 'ts-mls/createCommit.js';
export { createApplicationMessage, createProposal } from 'ts-mls/createMessage.js';
export { type CiphersuiteImpl, getCiphersuiteFromName } from 'ts-mls/crypto/ciphersuite.js';
export { getCiphersuiteImpl } from 'ts-mls/crypto/getCiphersuiteImpl.js';
export { defaultCapabilities } from 'ts-mls/defaultCapabilities.js';
export { acceptAll } from 'ts-mls/incomingMessageAction.js';
export { generateKeyPackage } from 'ts-mls/keyPackage.js';
export { mlsExporter } from 'ts-mls/keySchedule.js';
export { decodeMlsMessage, encodeMlsMessage, type MLSMessage } from 'ts-mls/message.js';
export { processMessage, processPrivateMessage } from 'ts-mls/processMessages.js';
export type { Proposal } from 'ts-mls/proposal.js';
export { emptyPskIndex } from 'ts-mls/pskIndex.js';

/*
 * [Note: external_pub] ts-mls 1.6 writes the external_pub extension without the length header that
 * `opaque HPKEPublicKey<V>` has, and reads it the same way; its version 2 does both right
 * (https://github.com/LukaJCB/ts-mls/pull/449). The two functions below put the header where RFC 9420 has it.
 */

/** A GroupInfo for external joins, with the ratchet tree in it. */
export async function createGroupInfoForExternalJoin(
  state: ClientState,
  suite: CiphersuiteImpl,
): Promise<GroupInfo> {
  const { publicKey } = await suite.hpke.deriveKeyPair(state.keySchedule.externalSecret);
  const extensionData = encode(await suite.hpke.exportPublicKey(publicKey), (writer, key) =>
    writer.opaque(key),
  );
  return createGroupInfoWithRatchetTree(
    state.groupContext,
    state.confirmationTag,
    state,
    state.ratchetTree,
    [{ extensionType: 'external_pub', extensionData }],
    suite,
  );
}

export function joinExternally(
  groupInfo: GroupInfo,
  keyPackage: KeyPackage,
  privateKeys: PrivateKeyPackage,
  suite: CiphersuiteImpl,
): ReturnType<typeof joinGroupExternal> {
  const extensionData = groupInfo.extensions.find(
    ({ extensionType }) => extensionType === 'external_pub',
  )?.extensionData;
  const importPublicKey: typeof suite.hpke.importPublicKey = (key) =>
    suite.hpke.importPublicKey(key === extensionData ? decode(key, (reader) => reader.opaque()) : key);
  const hpke = { ...suite.hpke, importPublicKey };
  return joinGroupExternal(groupInfo, keyPackage, privateKeys, false, { ...suite, hpke });
}

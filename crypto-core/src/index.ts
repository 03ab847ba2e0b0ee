/**
 * The public interface of crypto-core. `await ready()` once; after that all of it is synchronous, pure but for
 * the secret tree inside a `Group`, and deterministic for a given `Env`. Failures are `CryptoError` with a code.
 */

export { concat, equalBytes, toHex, wipe } from './bytes.ts';
export { DEFAULT_LIMITS, type Limits } from './codec/limits.ts';
export { encodeOpaque } from './codec/writer.ts';
export type { Env } from './env.ts';
export { CryptoError, type CryptoErrorCode } from './errors.ts';
export { type PadTo, paddedLength } from './framing/padding.ts';
export {
  type AppDataLogic,
  type AppDataUpdates,
  applyingAppData,
  type ProposedAppData,
} from './group/appData.ts';
export {
  type DecryptedMessage,
  decryptApplication,
  encryptApplication,
  exportSecret,
  type PeekedMessage,
  peekMessage,
} from './group/application.ts';
export { type CreateCommitArgs, type CreatedCommit, createCommit } from './group/commit.ts';
export {
  appDataDictionaryExtension,
  decodeComponentIds,
  decodeSafeAad,
  encodeComponentIds,
  encodeSafeAad,
  findAppData,
  hasSafeAad,
  LAST_RESORT_COMPONENT,
  safeExportSecret,
} from './group/components.ts';
export type { Continuation } from './group/continuation.ts';
export { type CreateGroupArgs, createGroup } from './group/create.ts';
export {
  applicationIdExtension,
  externalSendersExtension,
  findApplicationId,
  findExternalSenders,
  findRequiredCapabilities,
  requiredCapabilitiesExtension,
} from './group/extensions.ts';
export { type ExternalJoin, type JoinExternalArgs, joinExternal } from './group/external.ts';
export { exportGroupInfo, type TreePlace } from './group/groupInfo.ts';
export type {
  CommitPolicy,
  CommitProposal,
  GroupView,
  JoinPolicy,
  JoinProgress,
  JoinProposal,
  MemberCheck,
  MemberView,
  PskLookup,
} from './group/hooks.ts';
export {
  type CreateKeyPackageArgs,
  createKeyPackage,
  createSignatureKeyPair,
  decodeKeyPackage,
  decodeKeyPackageBundle,
  encodeKeyPackageBundle,
  isLastResort,
  type KeyPackageBundle,
  keyPackageRef,
  type SignatureKeyPair,
} from './group/keyPackage.ts';
export { type OutsideProposalArgs, proposeFromOutside, proposeOwnAdd } from './group/outside.ts';
export { greaseExtension, type LeafOptions } from './group/ownLeaf.ts';
export { type ProcessCommitArgs, type ProcessedCommit, processCommit } from './group/process.ts';
export type { StoredProposal } from './group/proposalList.ts';
export {
  type CreatedProposal,
  createProposal,
  type ProposalRequest,
  type ProposeOptions,
  processProposal,
  type ReInitRequest,
} from './group/propose.ts';
export { type SelfRemoves, verifyingSelfRemoves } from './group/selfRemove.ts';
export { loadGroup, reloadSecretTree, type SecretTreeLookup, saveEpoch } from './group/snapshot.ts';
export { endGroup, type Group, type GroupStatus, groupView, leafRef } from './group/state.ts';
export { decodeStoredProposal, encodeStoredProposal } from './group/storedProposal.ts';
export { pathRecipients, ratchetTreeNodes, ratchetTreeRoot } from './group/treeNodes.ts';
export {
  type JoinByWelcomeArgs,
  joinByWelcome,
  splitWelcome,
  welcomeKeyPackageRefs,
} from './group/welcome.ts';
export type { RatchetWindow } from './schedule/ratchet.ts';
export type { SecretTreeChanges, SecretTreeRecord } from './schedule/secretTree.ts';
export type { RequiredCapabilities } from './structs/capabilities.ts';
export { type ComponentData, ComponentId } from './structs/component.ts';
export type { Credential } from './structs/credential.ts';
export type { Extension } from './structs/extension.ts';
export type { ExternalSender } from './structs/externalSender.ts';
export type { ContentType, Sender } from './structs/framedContent.ts';
export { type LeafIndex, toLeafIndex } from './structs/indices.ts';
export type { OwnKeyPackage, UnverifiedKeyPackage } from './structs/keyPackage.ts';
export type { Lifetime } from './structs/leafNode.ts';
export {
  type AppDataUpdateProposal,
  ProposalTypeValue,
  type SelfRemoveProposal,
} from './structs/proposal.ts';
export type { PreSharedKeyId } from './structs/psk.ts';
export type { WireFormat } from './structs/wireFormat.ts';
export { ready } from './suite/sodium.ts';
export type { CipherSuiteId } from './suite/suites.ts';

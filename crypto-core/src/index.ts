/**
 * Everything that may be used from outside. `await ready()` once; after that all of it is synchronous, pure but for
 * the secret tree inside a `Group`, and deterministic for a given `Env`. Failures are `CryptoError` with a code.
 */
export type { Env } from './env.ts';
export { CryptoError, type CryptoErrorCode } from './errors.ts';
export { equalBytes, toHex, wipe } from './bytes.ts';
export { ready } from './suite/sodium.ts';
export type { CipherSuiteId } from './suite/suites.ts';

export type { Credential } from './structs/credential.ts';
export type { Extension } from './structs/extension.ts';
export { type LeafIndex, toLeafIndex } from './structs/indices.ts';
export { findGroupBinding, type GroupBinding, groupBindingExtension } from './structs/groupBinding.ts';
export type { KeyPackage } from './structs/keyPackage.ts';
export type { Lifetime } from './structs/leafNode.ts';
export type { PreSharedKeyId } from './structs/psk.ts';
export type { ContentType } from './structs/framedContent.ts';
export type { WireFormat } from './structs/wireFormat.ts';

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
export type {
  CommitPolicy,
  CommitProposal,
  GroupView,
  JoinPolicy,
  JoinProposal,
  MemberCheck,
  MemberView,
  PskLookup,
} from './group/hooks.ts';
export { type Group, type GroupStatus, groupView, leafRef } from './group/state.ts';
export { type CreateGroupArgs, createGroup } from './group/create.ts';
export { type CreateCommitArgs, createCommit, type CreatedCommit } from './group/commit.ts';
export { processCommit, type ProcessCommitArgs, type ProcessedCommit } from './group/process.ts';
export {
  type CreatedProposal,
  createProposal,
  processProposal,
  type ProposalRequest,
} from './group/propose.ts';
export type { StoredProposal } from './group/proposalList.ts';
export { joinByWelcome, type JoinByWelcomeArgs, welcomeKeyPackageRefs } from './group/welcome.ts';
export { type ExternalJoin, joinExternal, type JoinExternalArgs } from './group/external.ts';
export { exportGroupInfo } from './group/groupInfo.ts';
export {
  decryptApplication,
  type DecryptedMessage,
  encryptApplication,
  exportSecret,
  peekMessage,
  type PeekedMessage,
} from './group/application.ts';
export { paddedLength } from './framing/padding.ts';
export { loadGroup, reloadSecretTree, saveEpoch, type SecretTreeLookup } from './group/snapshot.ts';
export type { SecretTreeChanges, SecretTreeRecord } from './schedule/secretTree.ts';

export {
  checkDeviceCredential,
  type DeviceCertificate,
  issueDeviceCertificate,
  readDeviceCertificate,
  type VerifiedDeviceCertificate,
  verifyDeviceCertificate,
} from './account/deviceCertificate.ts';
export {
  type DeviceRevocation,
  signDeviceRevocation,
  verifyDeviceRevocation,
} from './account/deviceRevocation.ts';
export { GROUP_NAME_LABEL, openGroupName, sealGroupName } from './account/groupName.ts';
export {
  type LeaveStatement,
  readLeaveStatement,
  signLeaveStatement,
  verifyLeaveStatement,
} from './account/leaveStatement.ts';
export { DEFAULT_PASSWORD_COST, passwordKeys, type PasswordParams } from './account/password.ts';
export { hiddenRecordKey, openRecord, sealRecord } from './account/records.ts';
export {
  createRecoveryKey,
  decodeRecoveryKey,
  encodeRecoveryKey,
  recoveryAuthKey,
  recoveryWrapKey,
} from './account/recoveryKey.ts';
export { decodeRemovalGrounds, encodeRemovalGrounds, type RemovalGrounds } from './account/removalGrounds.ts';
export { type AccountIdentity, safetyNumber } from './account/safetyNumber.ts';
export {
  createVault,
  createVaultKey,
  openVault,
  sealVault,
  unwrapVaultKey,
  type Vault,
  type VerifiedContact,
  type WrapLabel,
  wrapVaultKey,
} from './account/vault.ts';

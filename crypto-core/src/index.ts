/**
 * The public interface of crypto-core. `await ready()` once; after that all of it is synchronous, pure but for
 * the secret tree inside a `Group`, and deterministic for a given `Env`. Failures are `CryptoError` with a code.
 */

export {
  type AccountState,
  isSignedAccountState,
  type KeyStanding,
  openAccountState,
  type PinnedPerson,
  type SignedAccountState,
  sealAccountState,
  signAccountState,
  type VerifiedContact,
  verifyAccountState,
} from './account/accountState.ts';
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
export {
  type DeviceSessionClaims,
  isSavedViewOf,
  type SavedView,
  type SubmittedCommit,
  signDeviceCopied,
  signDeviceSession,
  signDeviceStart,
  signSavedView,
  signSubmittedCommit,
} from './account/deviceSignatures.ts';
export { GROUP_NAME_LABEL, openGroupName, sealGroupName } from './account/groupName.ts';
export {
  type LeaveStatement,
  readLeaveStatement,
  signLeaveStatement,
  verifyLeaveStatement,
} from './account/leaveStatement.ts';
export {
  DEFAULT_PASSWORD_COST,
  type PasswordKeys,
  type PasswordParams,
  passwordKeys,
} from './account/password.ts';
export { hashProofBody, type ProofClaims, proofKeyOf, signProof, verifyProof } from './account/proof.ts';
export { hiddenRecordKey, openRecord, sealRecord } from './account/records.ts';
export {
  createRecoveryKey,
  decodeRecoveryKey,
  encodeRecoveryKey,
  recoveryAuthKey,
  recoveryKeyPair,
  recoveryProofSeed,
} from './account/recoveryKey.ts';
export { decodeRemovalGrounds, encodeRemovalGrounds, type RemovalGrounds } from './account/removalGrounds.ts';
export { type AccountIdentity, safetyNumber } from './account/safetyNumber.ts';
export {
  newestSharedKeys,
  openShared,
  type SharedKeys,
  sealShared,
  sharedRevision,
} from './account/sharedKeys.ts';
export { type SharedKeysStatement, signSharedKeys, verifySharedKeys } from './account/sharedKeysStatement.ts';
export { type SignedName, signName, verifyName } from './account/signedName.ts';
export {
  createVault,
  createVaultKey,
  deviceUnlockKey,
  fromVersion1,
  type OpenedVault,
  openVault,
  rotateVault,
  sealVault,
  unwrapByRecoveryKey,
  unwrapVaultKey,
  type Vault,
  wrapForRecovery,
  wrapVaultKey,
} from './account/vault.ts';
export { equalBytes, toHex, wipe } from './bytes.ts';
export { DEFAULT_LIMITS, type Limits } from './codec/limits.ts';
export {
  CHAIN_HEADER_LENGTH,
  type ChainHeader,
  encodeChainHeader,
  splitChainHeader,
  withChainHeader,
} from './content/chainHeader.ts';
export {
  isReceiptSigned,
  openReceipt,
  RECEIPT_LABEL,
  type Receipt,
  type ReceiptPlace,
  sealReceipt,
  signReceipt,
} from './content/receipt.ts';
export { emptyRunningHash, entryDigest, type LoggedEntry, nextRunningHash } from './content/runningHash.ts';
export type { Env } from './env.ts';
export { CryptoError, type CryptoErrorCode } from './errors.ts';
export { paddedLength } from './framing/padding.ts';
export {
  type DecryptedMessage,
  decryptApplication,
  encryptApplication,
  exportSecret,
  type PeekedMessage,
  peekMessage,
} from './group/application.ts';
export { type CreateCommitArgs, type CreatedCommit, createCommit } from './group/commit.ts';
export { type CreateGroupArgs, createGroup } from './group/create.ts';
export { type ExternalJoin, type JoinExternalArgs, joinExternal } from './group/external.ts';
export { exportGroupInfo } from './group/groupInfo.ts';
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
export { type ProcessCommitArgs, type ProcessedCommit, processCommit } from './group/process.ts';
export type { StoredProposal } from './group/proposalList.ts';
export {
  type CreatedProposal,
  createProposal,
  type ProposalRequest,
  processProposal,
} from './group/propose.ts';
export { loadGroup, reloadSecretTree, type SecretTreeLookup, saveEpoch } from './group/snapshot.ts';
export { endGroup, type Group, type GroupStatus, groupView, leafRef } from './group/state.ts';
export { type JoinByWelcomeArgs, joinByWelcome, welcomeKeyPackageRefs } from './group/welcome.ts';
export type { SecretTreeChanges, SecretTreeRecord } from './schedule/secretTree.ts';
export type { Credential } from './structs/credential.ts';
export type { Extension } from './structs/extension.ts';
export type { ContentType } from './structs/framedContent.ts';
export { findGroupBinding, type GroupBinding, groupBindingExtension } from './structs/groupBinding.ts';
export { type LeafIndex, toLeafIndex } from './structs/indices.ts';
export type { OwnKeyPackage, UnverifiedKeyPackage } from './structs/keyPackage.ts';
export type { Lifetime } from './structs/leafNode.ts';
export { findLogPosition, type LogPosition, logPositionExtension } from './structs/logPosition.ts';
export type { PreSharedKeyId } from './structs/psk.ts';
export type { WireFormat } from './structs/wireFormat.ts';
export { ready } from './suite/sodium.ts';
export type { CipherSuiteId } from './suite/suites.ts';

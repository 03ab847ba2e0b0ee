/**
 * The keys of an account, and what its devices sign: vault, recovery key, certificates, statements. `ready()` and
 * `CryptoError` are those of the package's first door.
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
} from './accountState.ts';
export {
  checkDeviceCredential,
  type DeviceCertificate,
  issueDeviceCertificate,
  readDeviceCertificate,
  type VerifiedDeviceCertificate,
  verifyDeviceCertificate,
} from './deviceCertificate.ts';
export {
  type DeviceRevocation,
  signDeviceRevocation,
  verifyDeviceRevocation,
} from './deviceRevocation.ts';
export {
  type DeviceSessionClaims,
  type GroupEnding,
  isSavedViewOf,
  type ReplacedCopies,
  type SavedView,
  type SubmittedCommit,
  signDeviceCopied,
  signDeviceSession,
  signDeviceStart,
  signGroupEnding,
  signReplacedCopies,
  signSavedView,
  signSubmittedCommit,
} from './deviceSignatures.ts';
export { FROM_OUTSIDE_EXTENSION, fromOutsideExtension, isFromOutside } from './fromOutside.ts';
export {
  findGroupBinding,
  GROUP_BINDING_EXTENSION,
  type GroupBinding,
  groupBindingExtension,
} from './groupBinding.ts';
export { GROUP_NAME_LABEL, openGroupName, sealGroupName } from './groupName.ts';
export {
  LEAF_REF_LABEL,
  type LeaveStatement,
  readLeaveStatement,
  signLeaveStatement,
  verifyLeaveStatement,
} from './leaveStatement.ts';
export {
  findMessageTimer,
  MESSAGE_TIMER_EXTENSION,
  messageTimerExtension,
  TIMER_LIMITS,
} from './messageTimer.ts';
export {
  DEFAULT_PASSWORD_COST,
  type PasswordKeys,
  type PasswordParams,
  passwordKeys,
} from './password.ts';
export { hashProofBody, type ProofClaims, proofKeyOf, signProof, verifyProof } from './proof.ts';
export { hiddenRecordKey, openRecord, sealRecord } from './records.ts';
export {
  createRecoveryKey,
  decodeRecoveryKey,
  encodeRecoveryKey,
  recoveryAuthKey,
  recoveryKeyPair,
  recoveryProofSeed,
} from './recoveryKey.ts';
export { decodeRemovalGrounds, encodeRemovalGrounds, type RemovalGrounds } from './removalGrounds.ts';
export { type AccountIdentity, safetyNumber } from './safetyNumber.ts';
export {
  newestSharedKeys,
  openShared,
  type SharedKeys,
  sealShared,
  sharedRevision,
} from './sharedKeys.ts';
export { type SharedKeysStatement, signSharedKeys, verifySharedKeys } from './sharedKeysStatement.ts';
export { type SignedName, signName, verifyName } from './signedName.ts';
export {
  hashesOf,
  openStateInSegments,
  PEOPLE_PER_SEGMENT,
  type SegmentedState,
  sealStateInSegments,
  segmentsNamed,
} from './stateSegments.ts';
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
} from './vault.ts';

/** The key schedule of RFC 9420 section 8: from one epoch's init secret to the next epoch's secrets. */
import { EMPTY, utf8, wipe } from '../bytes.ts';
import type { Env } from '../env.ts';
import { setupBaseR, setupBaseS } from '../suite/hpke.ts';
import { deriveSecret, expandWithLabel } from '../suite/labels.ts';
import type { KeyPair } from '../suite/sodium.ts';
import type { CipherSuite } from '../suite/suites.ts';

/** The secrets of an epoch, of Nh bytes each. The encryption secret feeds the secret tree and is then forgotten. */
export interface EpochSecrets {
  readonly senderDataSecret: Uint8Array;
  readonly encryptionSecret: Uint8Array;
  readonly exporterSecret: Uint8Array;
  readonly externalSecret: Uint8Array;
  readonly confirmationKey: Uint8Array;
  readonly membershipKey: Uint8Array;
  readonly resumptionPsk: Uint8Array;
  readonly epochAuthenticator: Uint8Array;
  readonly initSecret: Uint8Array;
  /** The root of the Exporter Tree (draft-ietf-mls-extensions-10, section 4.4). */
  readonly applicationExportSecret: Uint8Array;
}

/** @param groupContext the encoded GroupContext of the new epoch */
export function deriveJoinerSecret(
  suite: CipherSuite,
  initSecret: Uint8Array,
  commitSecret: Uint8Array,
  groupContext: Uint8Array,
): Uint8Array {
  const intermediate = suite.kdf.extract(initSecret, commitSecret);
  const joinerSecret = expandWithLabel(suite, intermediate, 'joiner', groupContext, suite.kdf.Nh);
  wipe(intermediate);
  return joinerSecret;
}

/** Derives the secret that seals the GroupInfo inside a Welcome. @param pskSecret all zero when there is no PSK */
export function deriveWelcomeSecret(
  suite: CipherSuite,
  joinerSecret: Uint8Array,
  pskSecret: Uint8Array,
): Uint8Array {
  const intermediate = suite.kdf.extract(joinerSecret, pskSecret);
  const welcomeSecret = deriveSecret(suite, intermediate, 'welcome');
  wipe(intermediate);
  return welcomeSecret;
}

/** Derives the AEAD key and nonce of `Welcome.encrypted_group_info` (RFC 9420 section 12.4.3.1). */
export function deriveWelcomeKey(
  suite: CipherSuite,
  welcomeSecret: Uint8Array,
): { key: Uint8Array; nonce: Uint8Array } {
  return {
    key: expandWithLabel(suite, welcomeSecret, 'key', EMPTY, suite.aead.Nk),
    nonce: expandWithLabel(suite, welcomeSecret, 'nonce', EMPTY, suite.aead.Nn),
  };
}

/** Derives the epoch's secrets from the joiner secret, which members and joiners share. */
export function deriveEpoch(
  suite: CipherSuite,
  joinerSecret: Uint8Array,
  pskSecret: Uint8Array,
  groupContext: Uint8Array,
): EpochSecrets {
  const intermediate = suite.kdf.extract(joinerSecret, pskSecret);
  const epochSecret = expandWithLabel(suite, intermediate, 'epoch', groupContext, suite.kdf.Nh);
  const secrets = deriveEpochSecrets(suite, epochSecret);
  wipe(intermediate, epochSecret);
  return secrets;
}

/** Derives the secrets from the epoch secret, which a group's creator draws at random (RFC 9420 section 11). */
export function deriveEpochSecrets(suite: CipherSuite, epochSecret: Uint8Array): EpochSecrets {
  const derive = (label: string): Uint8Array => deriveSecret(suite, epochSecret, label);
  return {
    senderDataSecret: derive('sender data'),
    encryptionSecret: derive('encryption'),
    exporterSecret: derive('exporter'),
    externalSecret: derive('external'),
    confirmationKey: derive('confirm'),
    membershipKey: derive('membership'),
    resumptionPsk: derive('resumption'),
    epochAuthenticator: derive('authentication'),
    initSecret: derive('init'),
    applicationExportSecret: derive('application_export'),
  };
}

/** Derives the HPKE key pair that the whole group holds, for external joiners (RFC 9420 section 8). */
export function externalKeyPair(suite: CipherSuite, externalSecret: Uint8Array): KeyPair {
  return suite.kem.deriveKeyPair(externalSecret);
}

/** MLS-Exporter(label, context, length) of RFC 9420 section 8.5. */
export function exportFrom(
  suite: CipherSuite,
  exporterSecret: Uint8Array,
  label: string,
  context: Uint8Array,
  length: number,
): Uint8Array {
  const secret = deriveSecret(suite, exporterSecret, label);
  return expandWithLabel(suite, secret, 'exported', suite.hash(context), length);
}

const EXTERNAL_INIT_LABEL = utf8('MLS 1.0 external init secret');

/**
 * Takes the joiner's side of external initialization (RFC 9420 section 8.3).
 * @throws CryptoError 'malformed' for an invalid public key
 */
export function sendExternalInit(
  suite: CipherSuite,
  externalPublicKey: Uint8Array,
  env: Env,
): { kemOutput: Uint8Array; initSecret: Uint8Array } {
  const { kemOutput, context } = setupBaseS(suite, externalPublicKey, EMPTY, env);
  return { kemOutput, initSecret: context.export(EXTERNAL_INIT_LABEL, suite.kdf.Nh) };
}

/** Takes the members' side of it. @throws CryptoError 'malformed' or 'decrypt-failed' for an invalid `kemOutput` */
export function receiveExternalInit(
  suite: CipherSuite,
  externalPrivateKey: Uint8Array,
  kemOutput: Uint8Array,
): Uint8Array {
  return setupBaseR(suite, kemOutput, externalPrivateKey, EMPTY).export(EXTERNAL_INIT_LABEL, suite.kdf.Nh);
}

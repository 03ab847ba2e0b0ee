import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';

export const CredentialTypeValue = { basic: 1, x509: 2 } as const;

/** RFC 9420 section 5.3. `x509` is decoded, never accepted into a group (check `CRED-01`). */
export type Credential =
  | { readonly type: 'basic'; readonly identity: Uint8Array }
  | { readonly type: 'x509'; readonly certificates: readonly Uint8Array[] };

/** @throws CryptoError 'unsupported' for a credential type whose layout is unknown. */
export function readCredential(r: Reader): Credential {
  const type = r.u16();
  switch (type) {
    case CredentialTypeValue.basic:
      return { type: 'basic', identity: r.opaque() };
    case CredentialTypeValue.x509:
      return { type: 'x509', certificates: r.vector('certificates', (item) => item.opaque()) };
    default:
      throw new CryptoError('unsupported', `credential type ${type}`);
  }
}

export function writeCredential(w: Writer, credential: Credential): void {
  w.u16(CredentialTypeValue[credential.type]);
  if (credential.type === 'basic') w.opaque(credential.identity);
  else w.vector(credential.certificates, (item, certificate) => item.opaque(certificate));
}

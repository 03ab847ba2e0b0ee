/** Keeps what the person has allowed by the password: one operation, for two minutes (PROTOCOL section 9). */
import { wipe } from '@sinetti/crypto-core';
import type { ProofRequest } from '../api/arguments.ts';
import { CryptoApiError } from '../api/errors.ts';
import type { Operation, OperationKind } from '../api/prompt.ts';
import type { Guarded } from '../codec/guards.ts';
import type { DerivedKeys } from './passwordKeys.ts';
import { proofOf } from './proofs.ts';

/** Milliseconds for which a confirmation counts, as long as the relay takes a proof. */
const lifetime = 2 * 60 * 1000;

export interface Confirmed {
  readonly operation: Operation;
  /** Keys of the password that was typed and is right. */
  readonly keys: DerivedKeys;
  /** With `change-password` and `move-on`. */
  readonly newPassword: string | null;
  /** The recovery key that the person has kept, with `create-recovery-key` and `replace-recovery-key`. */
  readonly recoveryKey: Uint8Array | null;
  /** The number that the frame has shown; null where it was about none. */
  readonly safetyNumber: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** The one request that a proof may be signed for. */
interface BoundRequest {
  /** Method and target; null where no request follows. */
  readonly operation: string | null;
  /** Fields that its body must hold, by name; null until the worker has made them. */
  readonly fields: Fields | null;
  /** Names of fields that its body may hold besides. */
  readonly others: readonly string[];
}

const emptyRequest = (operation: string): BoundRequest => ({ operation, fields: {}, others: [] });
const notYetMade = (operation: string, ...others: string[]): BoundRequest => ({
  operation,
  fields: null,
  others,
});
const noRequest: BoundRequest = { operation: null, fields: null, others: [] };
const passwordRequest = notYetMade('PUT /users/me/password', 'currentPassword');
const vaultRequest = notYetMade('PUT /vault');
/** Asks for the wraps that open the vault, which these operations renew. */
const wrapsRequest = emptyRequest('GET /vault/wraps');
const vaultKinds: readonly OperationKind[] = [
  'accept-older-vault',
  'change-password',
  'create-recovery-key',
  'move-on',
  'renew-keys',
  'replace-recovery-key',
  'revoke-device',
];

const requests: Record<OperationKind, (operation: Operation) => BoundRequest> = {
  'accept-account-key': () => noRequest,
  'accept-older-vault': () => vaultRequest,
  'change-names': ({ target }) => {
    // A username has no space in it.
    const [username = '', ...email] = target.split(' ');
    return {
      operation: 'PUT /users/me',
      fields: { username, email: email.join(' ') },
      others: ['signed_name'],
    };
  },
  'change-password': () => passwordRequest,
  'create-recovery-key': () => vaultRequest,
  'delete-account': () => emptyRequest('DELETE /user'),
  'delete-message-backup': () => emptyRequest('DELETE /history'),
  'end-session': ({ id }) => emptyRequest(`DELETE /sessions/${id}`),
  'mark-verified': () => noRequest,
  'move-on': () => notYetMade('PUT /users/me/account-key'),
  'renew-keys': () => noRequest,
  'replace-recovery-key': () => vaultRequest,
  'revoke-device': ({ id }) => notYetMade(`DELETE /devices/${id}`),
  'unmark-verified': () => noRequest,
};

interface Current {
  readonly key: 'password' | 'recovery';
  readonly proofSeed: Uint8Array;
  /** The confirmation that allows the proof; null for a recovery key's. */
  readonly confirmed: Confirmed | null;
  isTaken: boolean;
  request: BoundRequest;
  /** Milliseconds since the Unix epoch, from which on it doesn't count. */
  readonly until: number;
}

/** The confirmation given last in this worker, and the proof that it allows. */
export class Confirmations {
  readonly #now: () => number;
  #kept: Current | null = null;

  /** @param now milliseconds since the Unix epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Keeps a confirmation in the place of the one before; its keys are wiped with it. */
  keep(confirmed: Confirmed): void {
    const request = requests[confirmed.operation.kind](confirmed.operation);
    this.#begin({ key: 'password', proofSeed: confirmed.keys.proofSeed, confirmed, request });
  }

  /**
   * Keeps the proof seed of a recovery key that has just opened the vault, for the request that sets a password.
   * @param fields that the body of that request holds
   */
  keepRecovery(proofSeed: Uint8Array, fields: Fields): void {
    const request = { ...passwordRequest, fields };
    this.#begin({ key: 'recovery', proofSeed, confirmed: null, request });
  }

  /**
   * Hands over the confirmation of this operation, once.
   * @param id of the device or the person that it is done to
   * @throws CryptoApiError `usage` when the person has confirmed no such operation in the last two minutes
   */
  take(kinds: readonly OperationKind[], id: string | null): Confirmed {
    const kept = this.#current();
    const confirmed = kept?.confirmed ?? null;
    const isMeant = confirmed?.operation.id === id && kinds.includes(confirmed.operation.kind);
    if (kept === null || confirmed === null || kept.isTaken || !isMeant) {
      throw new CryptoApiError('usage', 'not confirmed');
    }
    kept.isTaken = true;
    return confirmed;
  }

  /** Says what the worker has made for the request of a confirmation: a body with anything else isn't signed. */
  bind(confirmed: Confirmed, fields: Fields): void {
    if (this.#kept?.confirmed === confirmed) this.#kept.request = { ...this.#kept.request, fields };
  }

  /**
   * Signs the confirmed operation's request, and forgets the keys; before it, the one that reads the wraps of the vault,
   * where the operation renews that.
   * @throws CryptoApiError `usage` for any other, and when there is none or it is older than two minutes
   */
  sign(request: Guarded<typeof ProofRequest>): string {
    const kept = this.#current();
    const kind = kept?.confirmed?.operation.kind;
    if (
      kept !== null &&
      kind !== undefined &&
      vaultKinds.includes(kind) &&
      isRequest(request, wrapsRequest)
    ) {
      return proofOf(kept.key, kept.proofSeed, request);
    }
    if (kept === null || !isRequest(request, kept.request)) {
      throw new CryptoApiError('usage', 'not confirmed');
    }
    try {
      return proofOf(kept.key, kept.proofSeed, request);
    } finally {
      this.forget();
    }
  }

  forget(): void {
    if (this.#kept === null) return;
    const { confirmed, proofSeed } = this.#kept;
    const secrets = [proofSeed, confirmed?.keys.wrapKey ?? null, confirmed?.recoveryKey ?? null];
    wipe(...secrets.filter((secret) => secret !== null));
    this.#kept = null;
  }

  #begin(kept: Omit<Current, 'isTaken' | 'until'>): void {
    this.forget();
    this.#kept = { ...kept, isTaken: false, until: this.#now() + lifetime };
  }

  #current(): Current | null {
    if (this.#kept !== null && this.#now() >= this.#kept.until) this.forget();
    return this.#kept;
  }
}

function isRequest(
  { operation, body }: Guarded<typeof ProofRequest>,
  { operation: bound, fields, others }: BoundRequest,
): boolean {
  if (operation !== bound || fields === null) return false;
  const given = fieldsOf(body);
  if (given === null) return false;
  const asText = (value: unknown): string => JSON.stringify(value);
  return (
    Object.entries(fields).every(([name, value]) => asText(given[name]) === asText(value)) &&
    Object.keys(given).every((name) => Object.hasOwn(fields, name) || others.includes(name))
  );
}

/** Returns the fields of a JSON body, none for an empty one; null for what is no object. */
function fieldsOf(body: string): Fields | null {
  if (body === '') return {};
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : null;
  } catch {
    return null;
  }
}

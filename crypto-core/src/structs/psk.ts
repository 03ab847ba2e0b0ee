import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';

export type ResumptionPskUsage = 'application' | 'reinit' | 'branch';

/** RFC 9420 section 8.4. */
export type PreSharedKeyId =
  | { readonly type: 'external'; readonly pskId: Uint8Array; readonly nonce: Uint8Array }
  | {
      readonly type: 'resumption';
      readonly usage: ResumptionPskUsage;
      readonly groupId: Uint8Array;
      readonly epoch: bigint;
      readonly nonce: Uint8Array;
    };

const PskTypeValue = { external: 1, resumption: 2 } as const;
const UsageValue = { application: 1, reinit: 2, branch: 3 } as const;

function readUsage(r: Reader): ResumptionPskUsage {
  const usage = r.u8();
  switch (usage) {
    case UsageValue.application:
      return 'application';
    case UsageValue.reinit:
      return 'reinit';
    case UsageValue.branch:
      return 'branch';
    default:
      throw new CryptoError('malformed', `resumption PSK usage ${usage}`);
  }
}

export function readPreSharedKeyId(r: Reader): PreSharedKeyId {
  const type = r.u8();
  switch (type) {
    case PskTypeValue.external:
      return { type: 'external', pskId: r.opaque(), nonce: r.opaque() };
    case PskTypeValue.resumption:
      return {
        type: 'resumption',
        usage: readUsage(r),
        groupId: r.groupId(),
        epoch: r.u64(),
        nonce: r.opaque(),
      };
    default:
      throw new CryptoError('malformed', `PSK type ${type}`);
  }
}

export function writePreSharedKeyId(w: Writer, id: PreSharedKeyId): void {
  w.u8(PskTypeValue[id.type]);
  if (id.type === 'external') {
    w.opaque(id.pskId);
  } else {
    w.u8(UsageValue[id.usage]);
    w.opaque(id.groupId);
    w.u64(id.epoch);
  }
  w.opaque(id.nonce);
}

import type { ServedErrorCode } from '../../contract/served.ts';

/** The MQTT 5 reason codes this gateway sends or checks for (section 2.4, table 2-6). */
export const ReasonCode = {
  Success: 0x00,
  NoSubscriptionExisted: 0x11,
  UnspecifiedError: 0x80,
  MalformedPacket: 0x81,
  ProtocolError: 0x82,
  ImplementationSpecificError: 0x83,
  UnsupportedProtocolVersion: 0x84,
  ClientIdentifierNotValid: 0x85,
  NotAuthorized: 0x87,
  ServerBusy: 0x89,
  ServerShuttingDown: 0x8b,
  BadAuthenticationMethod: 0x8c,
  KeepAliveTimeout: 0x8d,
  SessionTakenOver: 0x8e,
  TopicFilterInvalid: 0x8f,
  TopicNameInvalid: 0x90,
  ReceiveMaximumExceeded: 0x93,
  TopicAliasInvalid: 0x94,
  PacketTooLarge: 0x95,
  QuotaExceeded: 0x97,
  PayloadFormatInvalid: 0x99,
  RetainNotSupported: 0x9a,
  QosNotSupported: 0x9b,
  SharedSubscriptionsNotSupported: 0x9e,
  SubscriptionIdentifiersNotSupported: 0xa1,
  WildcardSubscriptionsNotSupported: 0xa2,
} as const;

export type ReasonCode = (typeof ReasonCode)[keyof typeof ReasonCode];

/** A packet that MQTT or this gateway's limits forbid. It ends the connection it came on with `reasonCode`. */
export class PacketError extends Error {
  override readonly name = 'PacketError';
  readonly reasonCode: ReasonCode;
  /** The code that REST would have answered, if REST has the same call. */
  readonly code: ServedErrorCode | null;

  /** @param message for the log; it must not quote anything from the packet. */
  constructor(reasonCode: ReasonCode, message: string, code: ServedErrorCode | null = null) {
    super(message);
    this.reasonCode = reasonCode;
    this.code = code;
  }
}

export function malformed(message: string): PacketError {
  return new PacketError(ReasonCode.MalformedPacket, message);
}

export function protocolError(message: string): PacketError {
  return new PacketError(ReasonCode.ProtocolError, message);
}

import { randomUUID } from 'node:crypto';
import { limits, tokenProperty } from '../../contract/index.ts';
import type { ConnectPacket } from './decode.ts';
import type { ConnackProperties } from './encode.ts';
import { singleUserProperty } from './properties.ts';
import { PacketError, ReasonCode } from './reasonCodes.ts';

/** The settings that client and gateway have agreed on for one connection. */
export interface Agreement {
  readonly clientId: string;
  readonly token: string;
  /** Seconds. */
  readonly keepAlive: number;
  /** QoS 1 deliveries the client takes before it acknowledges one. */
  readonly receiveMaximum: number;
  /** Bytes of the largest packet the client takes. */
  readonly maximumPacketSize: number;
  /** True if the client wants more than a reason code in acknowledgements. */
  readonly problemInformation: boolean;
}

const clientIdMaxLength = 256;
/** Bytes of the largest packet that MQTT can write: a fixed header of five, and what a Variable Byte Integer counts at most. */
const largestPacketSize = 5 + 268_435_455;
/** Below this not even every acknowledgement fits. */
const smallestMaximumPacketSize = 256;

/**
 * Settles a CONNECT, apart from proving its token. This gateway keeps nothing for a client that is away: the log
 * does, so there are no resumed sessions and no wills.
 * @throws PacketError with the CONNACK reason code that refuses it
 */
export function agree(packet: ConnectPacket): { agreement: Agreement; connack: ConnackProperties } {
  const { properties } = packet;
  if (properties.authenticationMethod !== undefined) {
    throw new PacketError(ReasonCode.BadAuthenticationMethod, 'authentication method');
  }
  if (!packet.cleanStart) throw unsupported('Clean Start is 0');
  if ((properties.sessionExpiryInterval ?? 0) !== 0) throw unsupported('Session Expiry Interval is not 0');
  if (packet.hasWill) throw new PacketError(ReasonCode.TopicNameInvalid, 'no topic takes a will');
  if (packet.clientId.length > clientIdMaxLength) {
    throw new PacketError(ReasonCode.ClientIdentifierNotValid, 'client identifier is too long');
  }
  const maximumPacketSize = properties.maximumPacketSize ?? largestPacketSize;
  if (maximumPacketSize < smallestMaximumPacketSize) {
    throw unsupported('Maximum Packet Size is too small');
  }
  const token = singleUserProperty(properties, tokenProperty);
  if (token === null) throw new PacketError(ReasonCode.NotAuthorized, 'no token');

  const asksTooLittle = packet.keepAlive === 0 || packet.keepAlive > limits.mqttKeepAliveSeconds;
  const keepAlive = asksTooLittle ? limits.mqttKeepAliveSeconds : packet.keepAlive;
  const clientId = packet.clientId === '' ? randomUUID() : packet.clientId;
  return {
    agreement: {
      clientId,
      token,
      keepAlive,
      receiveMaximum: properties.receiveMaximum ?? 65_535,
      maximumPacketSize,
      problemInformation: properties.requestProblemInformation !== 0,
    },
    connack: {
      receiveMaximum: limits.mqttReceiveMaximum,
      maximumQoS: 1,
      retainAvailable: false,
      maximumPacketSize: limits.mqttPacketMax,
      wildcardSubscriptionAvailable: false,
      subscriptionIdentifiersAvailable: false,
      sharedSubscriptionAvailable: false,
      ...(asksTooLittle ? { serverKeepAlive: keepAlive } : {}),
      ...(packet.clientId === '' ? { assignedClientIdentifier: clientId } : {}),
    },
  };
}

/** Section 3.2.2.2: "The CONNECT is valid but is not accepted by this Server." */
function unsupported(message: string): PacketError {
  return new PacketError(ReasonCode.ImplementationSpecificError, message);
}

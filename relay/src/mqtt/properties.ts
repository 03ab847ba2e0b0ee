import type { ByteReader } from './byteReader.ts';
import { malformed, protocolError } from './reasonCodes.ts';

/** Name and value of a User Property, in the order sent; names may repeat. */
export type UserProperty = readonly [name: string, value: string];

/** Properties that a client can send (MQTT 5 section 2.2.2.2). */
export interface Properties {
  payloadFormatIndicator?: number;
  messageExpiryInterval?: number;
  contentType?: string;
  responseTopic?: string;
  correlationData?: Uint8Array;
  subscriptionIdentifier?: number;
  sessionExpiryInterval?: number;
  authenticationMethod?: string;
  authenticationData?: Uint8Array;
  requestProblemInformation?: number;
  willDelayInterval?: number;
  requestResponseInformation?: number;
  reasonString?: string;
  receiveMaximum?: number;
  topicAliasMaximum?: number;
  topicAlias?: number;
  maximumPacketSize?: number;
  userProperties: UserProperty[];
}

type SingleProperty = Exclude<keyof Properties, 'userProperties'>;
type PropertyValue = Properties[SingleProperty];

interface PropertyType {
  readonly name: SingleProperty;
  readonly read: (reader: ByteReader) => PropertyValue;
}

/** A byte that may only be 0 or 1, as every byte property of a client is. */
function flag(reader: ByteReader): number {
  const value = reader.byte();
  if (value > 1) throw protocolError('property may only be 0 or 1');
  return value;
}

function nonZero(value: number): number {
  if (value === 0) throw protocolError('property must not be 0');
  return value;
}

const userPropertyIdentifier = 0x26;

const propertyTypes: ReadonlyMap<number, PropertyType> = new Map<number, PropertyType>([
  [0x01, { name: 'payloadFormatIndicator', read: flag }],
  [0x02, { name: 'messageExpiryInterval', read: (reader) => reader.fourByteInteger() }],
  [0x03, { name: 'contentType', read: (reader) => reader.utf8String() }],
  [0x08, { name: 'responseTopic', read: (reader) => reader.utf8String() }],
  [0x09, { name: 'correlationData', read: (reader) => reader.binaryData() }],
  [0x0b, { name: 'subscriptionIdentifier', read: (reader) => nonZero(reader.variableByteInteger()) }],
  [0x11, { name: 'sessionExpiryInterval', read: (reader) => reader.fourByteInteger() }],
  [0x15, { name: 'authenticationMethod', read: (reader) => reader.utf8String() }],
  [0x16, { name: 'authenticationData', read: (reader) => reader.binaryData() }],
  [0x17, { name: 'requestProblemInformation', read: flag }],
  [0x18, { name: 'willDelayInterval', read: (reader) => reader.fourByteInteger() }],
  [0x19, { name: 'requestResponseInformation', read: flag }],
  [0x1f, { name: 'reasonString', read: (reader) => reader.utf8String() }],
  [0x21, { name: 'receiveMaximum', read: (reader) => nonZero(reader.twoByteInteger()) }],
  [0x22, { name: 'topicAliasMaximum', read: (reader) => reader.twoByteInteger() }],
  [0x23, { name: 'topicAlias', read: (reader) => reader.twoByteInteger() }],
  [0x27, { name: 'maximumPacketSize', read: (reader) => nonZero(reader.fourByteInteger()) }],
]);

/** The properties each packet of a client may carry besides User Property (MQTT 5 table 2-4). */
export const allowedProperties = {
  connect: [
    'sessionExpiryInterval',
    'receiveMaximum',
    'maximumPacketSize',
    'topicAliasMaximum',
    'requestResponseInformation',
    'requestProblemInformation',
    'authenticationMethod',
    'authenticationData',
  ],
  will: [
    'willDelayInterval',
    'payloadFormatIndicator',
    'messageExpiryInterval',
    'contentType',
    'responseTopic',
    'correlationData',
  ],
  publish: [
    'payloadFormatIndicator',
    'messageExpiryInterval',
    'topicAlias',
    'responseTopic',
    'correlationData',
    'subscriptionIdentifier',
    'contentType',
  ],
  puback: ['reasonString'],
  subscribe: ['subscriptionIdentifier'],
  unsubscribe: [],
  disconnect: ['sessionExpiryInterval', 'reasonString'],
} as const satisfies Record<string, readonly SingleProperty[]>;

/**
 * Reads a property length and the properties after it.
 * @throws PacketError Malformed Packet for an identifier the packet can't carry, Protocol Error for a repeated one
 */
export function readProperties(reader: ByteReader, allowed: readonly SingleProperty[]): Properties {
  const section = reader.section(reader.variableByteInteger());
  const values: Partial<Record<SingleProperty, PropertyValue>> = {};
  const userProperties: UserProperty[] = [];
  while (section.remaining > 0) {
    const identifier = section.variableByteInteger();
    if (identifier === userPropertyIdentifier) {
      userProperties.push([section.utf8String(), section.utf8String()]);
      continue;
    }
    const property = propertyTypes.get(identifier);
    if (property === undefined || !allowed.includes(property.name)) {
      throw malformed('property does not belong to this packet');
    }
    if (values[property.name] !== undefined) throw protocolError('property is repeated');
    values[property.name] = property.read(section);
  }
  return { ...(values as Omit<Properties, 'userProperties'>), userProperties };
}

/** The one value of a User Property, or null if it is missing or repeated. */
export function singleUserProperty(properties: Properties, name: string): string | null {
  const values = properties.userProperties.filter(([candidate]) => candidate === name);
  return values.length === 1 ? (values[0]?.[1] ?? null) : null;
}

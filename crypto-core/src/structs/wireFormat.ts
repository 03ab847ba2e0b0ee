/** RFC 9420 section 17.2. */
export const WireFormatValue = {
  'public-message': 1,
  'private-message': 2,
  welcome: 3,
  'group-info': 4,
  'key-package': 5,
} as const;

export type WireFormat = keyof typeof WireFormatValue;

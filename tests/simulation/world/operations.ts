/** The operations during which a browser is killed at each point: see crashes.ts. */
export const operationNames = [
  'send',
  'commit',
  'add',
  'remove',
  'join',
  'rename',
  'acknowledge',
  'sendFile',
  'expire',
  'restore',
  'logIn',
  'recover',
] as const;
export type OperationName = (typeof operationNames)[number];

/** Operations with so many points that all of them take an hour: what runs often tries fewer. */
export const longOperations: readonly OperationName[] = ['expire', 'restore', 'logIn', 'recover'];

/** The operations during which a browser is killed at each point: see crashes.ts. */
export const operationNames = [
  'send',
  'commit',
  'add',
  'remove',
  'join',
  'rename',
  'acknowledge',
  'restore',
] as const;
export type OperationName = (typeof operationNames)[number];

import { blobErrorStatus, getBlobStorage } from './blobs.ts';
import { cancelEmailChange, confirmEmail, sendEmailCode } from './emails.ts';
import { errorStatus, routes } from './index.ts';

/** Every call with a schema that the relay serves: those that the client knows from its start, and those that it loads on demand. */
export const servedRoutes = {
  ...routes,
  getBlobStorage,
  sendEmailCode,
  confirmEmail,
  cancelEmailChange,
} as const;

/** Every code that the relay refuses with, and its status. */
export const servedErrorStatus = { ...errorStatus, ...blobErrorStatus } as const;
export type ServedErrorCode = keyof typeof servedErrorStatus;

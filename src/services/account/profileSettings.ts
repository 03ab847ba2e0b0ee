/** The Profile tab's settings at the relay come as one script, because the document has the hash of each script. */
export { updateAskedFirst } from './askedFirst.ts';
export { loadDiscoverability, setDiscoverability } from './discoverability.ts';
export { updateEmailVerification } from './emailVerification.ts';

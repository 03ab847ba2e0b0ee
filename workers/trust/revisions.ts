/** The last that a uint32 counts to. A stolen browser can say it, and must not keep the person's others from saying anything. */
const lastRevision = 0xffff_ffff;

/** Returns the revision after this one; the last one stays. */
export const nextRevision = (revision: number): number => Math.min(revision + 1, lastRevision);

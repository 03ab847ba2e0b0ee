import { sessionAtom } from './sessionAtom.ts';

/** A section of the Profile tab to which a banner leads. */
export type ProfileSection = 'devices' | 'moving-on';

/** The section that the Profile tab is to show next; null once it has. */
export const profileSectionAtom = sessionAtom<ProfileSection | null>(null);

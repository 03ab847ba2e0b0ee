import { createContext } from 'react';

/** The ids of those who can be mentioned in the conversation on screen; a mention of anybody else is but text. */
export const MentionableContext = createContext<ReadonlySet<string>>(new Set());

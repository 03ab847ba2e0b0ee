/** The page that shows conversations (src/lib/paths.ts). */
export const dashboardPath = '/dashboard';

/** A conversation in the dashboard of one person. */
export interface ChatLink {
  /** The next person in this browser must not be led into it. */
  readonly ownerId: string;
  readonly key: string;
}

/** In the fragment, which no server is told. */
export function chatPath({ ownerId, key }: ChatLink): string {
  return `${dashboardPath}#${ownerId}/${key}`;
}

/** Null for all but what `chatPath` makes: a link leads to no other page, and to no other origin. */
export function parseChatPath(path: unknown): ChatLink | null {
  if (typeof path !== 'string') return null;
  const [, page, ownerId, key] = /^([^#]*)#([\w-]{1,64})\/([\w-]{1,64})$/.exec(path) ?? [];
  if (page !== dashboardPath || ownerId === undefined || key === undefined) return null;
  return { ownerId, key };
}

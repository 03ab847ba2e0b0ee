export const reportReasons = ['spam', 'harassment', 'impersonation', 'illegal', 'other'] as const;

/** A report about a person to whoever runs the server: all that is sent to them in clear, and nothing else. */
export interface PersonReport {
  readonly userId: string;
  readonly reason: (typeof reportReasons)[number];
  readonly text: string;
  /** The messages that the reporter has chosen. */
  readonly messages: readonly { readonly timestamp: string; readonly text: string }[];
}

/** A sealed sign that somebody is writing, or no longer, as the relay hands it on. */
export interface GivenTyping {
  readonly userId: string;
  readonly deviceId: string;
  readonly epoch: number;
  /** base64url */
  readonly content: string;
}

export interface TypingApi {
  /**
   * Seals the sign that the person is writing, or no longer, for the members of the present epoch. It uses up no key, and
   * nothing is kept. @returns null where this device is no member, among own devices, and where no message would go to all members
   * as they are now
   */
  sealTyping(
    conversationId: string,
    isWriting: boolean,
  ): Promise<Pick<GivenTyping, 'epoch' | 'content'> | null>;
  /**
   * Opens a sign of somebody else. @returns whether they are writing; null for one that says nothing: altered, of another
   * epoch, of a device that isn't there or is revoked, older than another one of its device, or not of these minutes
   */
  openTyping(conversationId: string, given: GivenTyping): Promise<boolean | null>;
}

export interface Contacts {
  /** Whether the two have accepted each other. Nobody is a contact of oneself. */
  areContacts(userId: string, otherId: string): Promise<boolean>;
  /** User ids of a person's contacts, in no particular order. */
  idsOf(userId: string): Promise<string[]>;
}

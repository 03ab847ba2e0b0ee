export const messageTexts = {
  title: 'Messages',
  loadingContacts: 'Loading contacts...',
  noContacts: 'No contacts yet',
  findContacts: 'Find Contacts',
  noContactsHint: 'Find people by their username or email address and ask to connect.',
  searchToggle: 'Search in contacts',
  searchPlaceholder: 'Search contacts...',
  noMatches: (query: string) => `No contacts found matching "${query}"`,

  nothingOpen: 'Select a contact from the list to start a secure conversation',
  noMessagesHint: 'Messages are sealed in your browser and opened only in theirs.',
  noPreview: 'No messages yet',
  messagesWith: (name: string) => `Messages with ${name}`,
  back: 'Back to contacts',

  loadOlderFailed: 'Older messages could not be loaded. Please try again.',
  sendFailed: 'Failed to send message. Please try again.',
  openFailed: 'Failed to load messages. Please try again.',
  retryFailed: 'The message could not be sent again.',
  discardFailed: 'The message could not be discarded.',
  unnamedGroup: 'a group',
  announcement: (name: string, text: string) => `New message from ${name}: ${text}`,
  groupAnnouncement: (name: string, group: string, text: string) =>
    `New message from ${name} in ${group}: ${text}`,
} as const;

/** Milliseconds after which the list stops saying that contacts load (spec section 9). */
export const contactsLoadingCap = 5000;

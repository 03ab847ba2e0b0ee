export const contactTexts = {
  title: 'Contacts',
  requests: 'Contact Requests',
  noRequests: "You're all caught up! No pending contact requests.",
  sentRequests: 'Sent Requests',
  waiting: 'Waiting for an answer',
  contacts: 'My Contacts',
  noContacts: 'Your contacts list is empty.',
  loading: 'Loading contacts...',
  findUsers: 'Find Users',
  backToContacts: 'Back to contacts',
  message: 'Message',
  accept: 'Accept',
  decline: 'Decline',

  accepted: 'Contact request accepted successfully!',
  acceptFailed: 'Failed to accept request. Please try again.',
  declined: 'Contact request rejected',
  declineFailed: 'Failed to reject request. Please try again.',

  more: (name: string) => `More about ${name}`,
  remove: 'Remove contact',
  removeTitle: 'Remove this contact?',
  removeConfirm: 'Remove',
  removeFailed: 'Failed to remove contact. Please try again.',

  searchLabel: 'Search users',
  searchPlaceholder: 'Search by email or username...',
  searchHint: 'Minimum 2 characters required',
  searching: 'Searching...',
  searchFailed: 'Failed to search users. Please try again.',
  noUsers: (query: string) => `No users found matching "${query}"`,
  addContact: 'Add Contact',
  requestPending: 'Request sent',
  requestReceived: 'Asked to connect with you',
  requestSent: 'Contact request sent successfully',
  requestFailed: 'Failed to send contact request. Please try again.',
} as const;

/** Characters after trimming (spec section 9). */
export const searchMinimum = 2;

/** Milliseconds of rest after the last key before a search starts. */
export const searchDelay = 300;

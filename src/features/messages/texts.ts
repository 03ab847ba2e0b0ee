import type { UndecryptableReason } from '../../store/chats.ts';

export const messageTexts = {
  loadingContacts: 'Loading contacts...',
  noContacts: 'No contacts yet',
  findContacts: 'Find Contacts',
  noContactsHint: 'Find people by their username or email address and ask to connect.',
  searchToggle: 'Search in contacts',
  searchPlaceholder: 'Search contacts...',
  noMatches: (query: string) => `No contacts found matching "${query}"`,

  nothingOpen: 'Select a contact from the list to start a secure conversation',
  noMessagesWith: (name: string) => `No messages yet with ${name}`,
  noMessagesHint: 'Messages are sealed in your browser and opened only in theirs.',
  noPreview: 'No messages yet',
  loadingMessages: 'Loading messages...',
  loadingOlder: 'Loading older messages...',
  loadOlder: 'Load older messages',
  loadOlderFailed: 'Older messages could not be loaded. Please try again.',
  newMessages: 'New messages',
  back: 'Back to contacts',

  placeholder: 'Type a message...',
  inputLabel: (name: string) => `Message to ${name}`,
  send: 'Send',
  tooLong: 'This message is too long to send. Please split it.',
  sendFailed: 'Failed to send message. Please try again.',
  openFailed: 'Failed to load messages. Please try again.',

  noContent: 'No message content',
  undecryptable: "Message couldn't be decrypted",
  unknownKind: 'Update the app to see this message',
  why: 'Why?',
  showMore: 'Show more',
  showLess: 'Show less',

  sending: 'Sending',
  sent: 'Sent',
  read: 'Read',
  notSent: 'Not sent.',
  retry: 'Retry',
  discard: 'Discard',
  retryFailed: 'The message could not be sent again.',
  discardFailed: 'The message could not be discarded.',
  announcement: (name: string, text: string) => `New message from ${name}: ${text}`,
} as const;

/** For each reason: what happened, and what the person can do. */
export const undecryptableTexts: Record<
  UndecryptableReason,
  { readonly what: string; readonly todo: string }
> = {
  'before-join': {
    what: 'It was sent before this browser became one of your devices, so it was not sealed for this browser.',
    todo: 'You can read it in a browser where you were signed in at that time.',
  },
  'storage-erased': {
    what: 'This browser’s stored messages were erased, and the key of this message with them.',
    todo: 'You can read it in another of your browsers, or ask for it to be sent again.',
  },
  damaged: {
    what: 'It was damaged or changed on its way.',
    todo: 'Ask for it to be sent again. Messages after it are not affected.',
  },
  'unknown-device': {
    what: 'It came from a device that is not proven to belong to its sender.',
    todo: 'Ask the person in another way whether they sent something. Nothing of it was shown or kept.',
  },
  rules: {
    what: 'It breaks the rules of this conversation, so your browser refused it.',
    todo: 'You need not do anything. If it happens again, tell whoever runs this server.',
  },
};

/** Milliseconds after which the list stops saying that contacts load (spec section 9). */
export const contactsLoadingCap = 5000;

/** Bytes of UTF-8. The ciphertext of more would pass what the relay takes. */
export const messageMaxBytes = 64 * 1024;

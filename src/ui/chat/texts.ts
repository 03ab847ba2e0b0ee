import type { UndecryptableReason } from './message.ts';

export const chatTexts = {
  loadingMessages: 'Loading messages...',
  loadingOlder: 'Loading older messages...',
  loadOlder: 'Load older messages',
  newMessages: 'New messages',
  you: 'You',

  placeholder: 'Type a message...',
  inputLabel: (name: string) => `Message to ${name}`,
  send: 'Send',
  tooLong: 'This message is too long to send. Please split it.',

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

/** Bytes of UTF-8. The ciphertext of more would pass what the relay takes. */
export const messageMaxBytes = 64 * 1024;

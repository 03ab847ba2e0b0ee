import { goneWords } from './goneFiles.ts';

/** Everything that people say in the story whose secrets are sought, by a name. */
export const sentences = {
  overMqtt: 'The heron stands still in the reeds at dawn.',
  answer: 'Nobody saw the lighthouse keeper leave, Åsa.',
  overRest: 'Seven barrels of tar went by the old road.',
  fromThirdBrowser: 'The ice will hold until the second Sunday.',
  groupName: 'The society for the study of northern fog',
  inTheGroup: 'We meet where the railway used to end.',
  neverSent: 'This one was written and then thought better of.',
  note: 'Lamp oil, before the keeper asks again.',
  inDraft: 'Half a sentence that waits for its',
  reply: 'The keeper was on the boat, they say.',
  edited: 'Seven barrels of tar went by the new road.',
  deleted: 'The key is under the third stone from the left.',
  reaction: '👩🏽‍🚀',
  caption: 'The map that he drew of the shallows',
  fileName: 'shallows-of-the-north.pdf',
  description: 'A map with a cross on a rock',
  fileType: 'image/webp',
  pictureName: 'lantern-room-at-noon.webp',
  mention: 'The tide table is with',
  forwarded: 'As it was said in the boathouse, word for word.',
  takenReaction: '🧑🏿‍🚒',
  disappeared: 'Count the oars again before they come back.',
  ...goneWords,
};
/** Names of the sentences that are gone from every browser at the end. */
export const erased = ['deleted', 'takenReaction', 'disappeared', ...Object.keys(goneWords)];
/** Words that disappear by themselves. */
export const timedWords: readonly string[] = [sentences.disappeared, sentences.disappearedCaption];

export const passwords = {
  anna: 'correct horse battery staple 91',
  bert: 'välkommen till skärgården 17',
  annaChanged: 'seven small boats in a row 33',
  annaRecovered: 'the bridge opens twice a day 48',
};

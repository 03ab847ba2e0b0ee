import type { GroupProgress } from '../../store/groups.ts';

export const groupTexts = {
  title: 'Groups',
  loading: 'Loading groups...',
  noGroups: 'No groups yet',
  noGroupsHint: 'A group is made here, and its keys never leave the browsers of its members.',
  newGroup: 'New Group',
  nameLabel: 'Group name',
  namePlaceholder: 'What the group is called',
  nameRequired: 'Group name is required',
  nameTooLong: 'A group name has at most 100 characters',
  nameHint: 'Only members can read it.',
  create: 'Create Group',
  creating: 'Creating group...',
  cancel: 'Cancel',
  created: (name: string) => `Group "${name}" created successfully!`,
  createFailed: 'Failed to create group. Please try again.',

  creator: 'Creator',
  you: 'You',
  memberCount: (count: number) => (count === 1 ? '1 member' : `${count} members`),
  unnamed: 'Unnamed group',
  openFailed: 'Failed to get group details',

  welcome: 'Welcome to Group Chat',
  welcomeHint: 'Select a group from the list to read and write.',
  welcomeFirstHint: 'Talk with several people at once, sealed for each of their browsers.',
  createFirst: 'Create Your First Group',

  back: 'Back to groups',
  messagesIn: (name: string) => `Messages in ${name}`,
  chatIn: (name: string) => `Group ${name}`,
  noMessages: 'No messages yet',
  noMessagesHint: 'Messages are sealed for the members of this group, and for nobody else.',
  seal: 'End-to-end encrypted. Only the members of this group can read it.',
  readableSince: 'You can read messages since',
  loadOlderFailed: 'Older messages could not be loaded. Please try again.',
  sendFailed: 'Failed to send message. Please try again.',
  retryFailed: 'The message could not be sent again.',
  discardFailed: 'The message could not be discarded.',

  entering: 'This browser is not in the group yet. It enters as soon as it has received the keys.',
  reentering: 'This browser has lost its place in the group and is entering it again. What you write waits.',
  mismatch: 'The server’s list of members is not the same as who holds the group’s keys.',
  more: (count: number) => ` and ${count} more`,
  mismatchWaiting: 'What you write waits until both agree.',
  checkAgain: 'Check again',
  checkFailed: 'Failed to get group details',

  details: 'Group Details',
  closeDetails: 'Close details',
  backToChat: 'Back to the group chat',
  members: 'Members',
  devices: (count: number) => (count === 1 ? '1 device' : `${count} devices`),
  unlisted: 'Not on the server’s list',
  withoutKeys: 'Cannot read yet: has no keys',
  leaving: 'Has left',
  membersPending: 'The members are shown once this browser is in the group.',
  addMember: 'Add Member',
  addPlaceholder: 'Choose a contact',
  add: 'Add',
  adding: 'Adding...',
  nobodyToAdd: 'All your contacts are in this group.',
  noContacts: 'You can add your contacts. There are none yet.',
  added: (name: string) => `${name} added to the group!`,
  addFailed: 'Failed to add member. Please try again.',

  delete: 'Delete Group',
  deleteQuestion: 'Are you sure you want to delete this group?',
  deleteConsequence: 'It ends for everybody in it, and its messages go from this browser.',
  deleted: (name: string) => `Group "${name}" deleted!`,
  deleteFailed: 'Failed to delete group. Please try again.',
  leave: 'Leave Group',
  leaveQuestion: 'Are you sure you want to leave this group?',
  leaveConsequence:
    'You can read nothing that is sent after that, and what you have read goes from this browser.',
  left: (name: string) => `You left the group "${name}"`,
  leaveFailed: 'Failed to leave group. Please try again.',
} as const;

/** What is being waited for while a group is made or somebody is added. */
export const progressTexts: Record<GroupProgress, string> = {
  'gathering-keys': 'Gathering keys…',
  sealing: 'Sealing the group for each device…',
  submitting: 'Handing over the sealed group…',
  opening: 'Opening the group…',
};

/** Why this browser did not enter a group, by the code of the refusal. */
export const refusalTexts: Readonly<Record<string, string>> = {
  policy: 'Neither its creator nor you added this browser to it.',
  'identity-changed': 'Somebody in it is not proven to be who they were before.',
  'invalid-credential': 'A device in it is not proven to belong to its owner.',
  'wrong-group': 'The keys that were offered are those of another group.',
  'missing-key': 'The keys that were offered are not for this browser.',
};

export const refusalTitle = 'Your browser refused to enter this group.';
export const refusalOther = 'What the server offers does not hold together.';
export const refusalTodo =
  'Nothing was sent to it. Ask its creator in another way, and remove your contact if you do not trust it.';

/** Characters after trimming. */
export const groupNameMax = 100;

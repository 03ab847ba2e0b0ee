/** The sentences of the error catalogue that services show (spec section 8). Features keep their own. */
export const texts = {
  loginFailed: 'Failed to log in. Please check your credentials.',
  loginUnavailable: 'Failed to login. Check your credentials or try again later.',
  signUpFailed: 'Failed to create account. Please try again.',
  signUpUnavailable:
    'Failed to create account. Check if the username or email is already registered or if the backend is temporarily unavailable.',
  consentMissing: 'You must accept the Privacy Policy to create an account.',
  sessionExpired: 'Session expired. Please login again.',
  storageErased:
    'This browser no longer holds your keys: its storage was cleared. Log in to make it a device of yours again.',

  sendNotSignedIn: 'Please log in to send messages.',
  sendUnauthenticated: 'You need to be logged in to send messages. Please log in again.',
  sendNotFound: 'Cannot send message. The message service is currently unavailable.',
  sendForbidden: 'You do not have permission to send messages to this user.',
  sendServerError: 'Server error occurred while sending message. Please try again later.',
  sendNetworkError: 'Network error. Please check your internet connection and try again.',
  sendFailed: 'Failed to send message. Please try again.',
  sendFailedBecause: (detail: string) => `Failed to send message: ${detail}`,

  noDevice: 'This person has not signed in on any device yet.',
  identityChanged: "This person's security keys have changed.",
  membersInDoubt: "The members of this group can't be confirmed right now.",
  messageTooLong: 'The message is too long.',
  storageFailed: "This browser's storage is full or cannot be written.",

  loadContactsFailed: 'Failed to load contacts. Please try again.',
  loadRequestsFailed: 'Failed to load contact requests. Please try again.',
  loadSentRequestsFailed: 'Failed to load sent requests. Please try again.',
  searchFailed: 'Failed to search users. Please try again.',
  requestFailed: 'Failed to send contact request. Please try again.',
  acceptFailed: 'Failed to accept request. Please try again.',
  rejectFailed: 'Failed to reject request. Please try again.',
  removeFailed: 'Failed to remove contact. Please try again.',
  loadGroupsFailed: 'Failed to load groups',
  groupNameMissing: 'Group name is required',
  createGroupFailed: 'Failed to create group. Please try again.',
  addMemberFailed: 'Failed to add member. Please try again.',
  deleteGroupFailed: 'Failed to delete group. Please try again.',
  leaveGroupFailed: 'Failed to leave group. Please try again.',
  groupDetailsFailed: 'Failed to get group details.',

  loadNotificationsFailed: 'Failed to load notifications. Please try again.',
  readNotificationFailed: 'Failed to mark notification as read. Please try again.',
  readNotificationsFailed: 'Failed to mark all notifications as read. Please try again.',
  deleteNotificationFailed: 'Failed to delete notification. Please try again.',

  loadMessagesFailed: 'Failed to load messages. Please try again.',
} as const;

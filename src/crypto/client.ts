export type {
  CommitSubmission,
  ConversationState,
  CryptoApi,
  LogEntryInput,
  MessageContent,
  MessageView,
  PreparedMessage,
  UndecryptableReason,
} from '../../workers/api.ts';

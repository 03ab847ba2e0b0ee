/** The calls by which an email is verified: they are loaded once there is one to verify. */
export {
  cancelEmailChange,
  confirmEmail,
  emailCodePattern,
  sendEmailCode,
} from '@sinetti/relay/contract/emails';

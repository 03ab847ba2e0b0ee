import type { Examples } from '../example.ts';
import {
  aino,
  authKey,
  eero,
  ids,
  invitationCode,
  loginProof,
  openSession,
  passwordParams,
  profile,
  proofKey,
  proofNonce,
  recoveryAuthKey,
  sealedState,
  sealedVault,
  signedName,
  statement,
  time,
  wrap,
} from './values.ts';

const session = {
  access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI1YzdiMWYwZSJ9.c2lnbmF0dXJl',
  user: profile,
  loginProof,
};
const wraps = { passwordWrap: wrap, recoveryWrap: wrap };
const vault = { version: 3, sealedVault };

export const account = {
  getVersion: { response: { version: '0.1.0', sign_up: 'invitation' } },
  register: {
    body: {
      username: aino.username,
      email: aino.email,
      password: authKey,
      passwordParams,
      passwordProofKey: proofKey,
      full_name: profile.full_name,
      invitation: invitationCode,
      consent: { privacyConsent: true, consentTimestamp: time },
    },
    response: session,
  },
  login: {
    body: { email: aino.username, password: authKey, passwordProofKey: proofKey, loginProof },
    response: session,
  },
  logout: {},
  authParams: { query: { identifier: aino.email }, response: passwordParams },
  recover: {
    body: { email: aino.email, recoveryAuthKey, recoveryProofKey: proofKey },
    response: session,
  },
  profile: { response: profile },
  updateProfile: { body: { username: aino.username, email: aino.email }, response: profile },
  changePassword: {
    body: {
      currentPassword: authKey,
      password: authKey,
      passwordParams,
      passwordProofKey: proofKey,
      vault: { ...vault, ...wraps },
    },
    response: { version: 4 },
  },
  moveOn: {
    body: {
      password: authKey,
      passwordParams,
      passwordProofKey: proofKey,
      vault: { ...vault, ...wraps, recoveryWrap: null },
      accountKey: proofKey,
      revocations: [{ id: ids.device, statement }],
    },
    response: { version: 4 },
  },
  accountData: {
    response: {
      profile,
      consented_at: time,
      discoverability: { found_by: 'both', shows_email: false },
      email_verified: true,
      asked_first: false,
      password_params: passwordParams,
      sessions: [openSession],
    },
  },
  sendEmailCode: {},
  confirmEmail: { body: { code: '12345678' }, response: profile },
  cancelEmailChange: {},
  putAskedFirst: { body: { asked_first: true } },
  putDiscoverability: { body: { found_by: 'name', shows_email: false } },
  deleteAccount: {},
  listAccountChanges: {
    response: [
      {
        id: ids.change,
        kind: 'recovery-key',
        device_id: ids.otherDevice,
        device_name: 'Chrome on Linux',
        created_at: time,
      },
    ],
  },
  createProofNonce: {
    response: { nonce: proofNonce, session: ids.session, version: 3, passwordKey: true },
  },
  getVault: { response: { ...vault, hasRecoveryKey: true } },
  getVaultWraps: { response: wraps },
  getFormerVault: { response: { ...vault, ...wraps, version: 2, replaced_at: time } },
  getAccountState: { response: { version: 3, sealed: sealedState, segments: [] } },
  putAccountState: { body: { version: 3, sealed: sealedState }, response: { version: 4 } },
  putSignedName: { body: { signed_name: signedName } },
  listSignedNames: {
    body: { user_ids: [eero.id] },
    response: [{ user_id: eero.id, signed_name: signedName }],
  },
  putVault: {
    body: { ...vault, ...wraps, recoveryAuthKey, recoveryProofKey: proofKey },
    response: { version: 4 },
  },
} satisfies Partial<Examples>;

const reported = {
  user_id: ids.eero,
  reason: 'spam' as const,
  text: 'The same every day.',
  messages: [{ sent_at: time, text: 'Buy now!' }],
};

export const contacts = {
  listContacts: { response: [eero] },
  listContactRequests: { response: [{ id: ids.request, from_user: eero, created_at: time }] },
  listSentRequests: {
    response: [{ id: ids.request, to_user: { id: eero.id, username: eero.username }, created_at: time }],
  },
  requestContact: {
    params: { id: ids.eero },
    response: { id: ids.request, status: 'pending', message: 'Contact request sent successfully' },
  },
  withdrawContact: { params: { id: ids.eero } },
  acceptContact: { params: { id: ids.request }, response: { contact: eero } },
  rejectContact: { params: { id: ids.request } },
  removeContact: { params: { id: ids.eero } },
  listBlocks: { response: [{ id: ids.eero, username: 'eero', created_at: time }] },
  block: { params: { id: ids.eero } },
  unblock: { params: { id: ids.eero } },
  report: { body: reported, response: { id: ids.report } },
  listReports: { response: [{ id: ids.report, ...reported, created_at: time }] },
  searchUsers: { query: { q: 'ee' }, response: [eero] },
} satisfies Partial<Examples>;

import type { AccountChangeKind, Profile, RouteBody, routes } from '../../contract/index.ts';
import { limits } from '../../contract/index.ts';
import { provenLifetime } from '../auth/sessions.ts';
import type { Handlers } from '../http/contractRoutes.ts';
import type { UserRow } from '../repositories/users.ts';
import type { VaultRow } from '../repositories/vaults.ts';
import type { Services } from '../services.ts';
import { relayVersion } from '../version.ts';
import { bytes, rotationOf, text, time } from './encoding.ts';
import { openSessionsOf } from './sessions.ts';

export function accountHandlers({
  accountChanges,
  accountMails,
  accounts,
  clock,
  emails,
  people,
  proofs,
  sessions,
  signedNames,
}: Services) {
  return {
    getVersion: async () => ({ version: relayVersion, sign_up: await accounts.signUpMode() }),

    register: async ({ body }) => {
      const { token, loginProof, user } = await accounts.register({
        username: body.username,
        email: body.email,
        authKey: body.password,
        passwordParams: body.passwordParams,
        proofKey: keyOf(body.passwordProofKey),
        fullName: body.full_name,
        invitation: body.invitation,
        consentedAt: Date.parse(body.consent.consentTimestamp),
      });
      await emails.welcome(user);
      return { access_token: token, loginProof, user: profileOf(user) };
    },

    login: async ({ body, address }) => {
      const proofKey = keyOf(body.passwordProofKey);
      const from = { address, loginProof: body.loginProof, proofKey };
      const { token, loginProof, user } = await accounts.login(body.email, body.password, from);
      return { access_token: token, loginProof, user: profileOf(user) };
    },

    recover: async ({ body, address }) => {
      const proofKey = keyOf(body.recoveryProofKey);
      const from = { address, loginProof: body.loginProof, proofKey };
      const { token, loginProof, user } = await accounts.recover(body.email, body.recoveryAuthKey, from);
      return { access_token: token, loginProof, user: profileOf(user) };
    },

    authParams: ({ query }) => accounts.passwordParams(query.identifier),
    profile: async ({ session }) => profileOf(await accounts.profile(session.userId)),

    updateProfile: async ({ session, body, requireProof, address }) => {
      const changed = await accounts.newNames(session.userId, body);
      if (changed.length > 0) await requireProof();
      const { email, signed_name: signed, username } = body;
      const signedName = signed === undefined ? null : bytes(signed);
      const isPending = emails.verifies && changed.includes('email');
      if (isPending) await emails.takeTurn(session.userId, email, address);
      // The present owner's address is the former one.
      const before = await accountMails.recipient(session.userId);
      const user = await accounts.updateProfile(session, {
        username,
        email: isPending ? null : email,
        signedName,
      });
      if (isPending) await emails.propose(user, email);
      for (const name of changed)
        if (name === 'username' || !isPending) await accountChanges.record(session, name, before);
      return profileOf(user);
    },

    sendEmailCode: ({ session }) => emails.sendCode(session.userId),

    confirmEmail: async ({ session, body }) => {
      const { before, user } = await emails.confirm(session.userId, body.code);
      if (before !== null) await accountChanges.record(session, 'email', before);
      return profileOf(user);
    },

    cancelEmailChange: ({ session }) => emails.cancel(session.userId),

    changePassword: async ({ session, body, address }) => {
      const change = {
        currentAuthKey: body.currentPassword,
        authKey: body.password,
        passwordParams: body.passwordParams,
        proofKey: bytes(body.passwordProofKey),
        vault: rotationOf(body.vault),
      };
      const version = await accounts.changePassword(session, change, address);
      await accountChanges.record(session, 'password');
      return { version };
    },

    moveOn: async ({ session, body }) => {
      const version = await accounts.moveOn(session, {
        authKey: body.password,
        passwordParams: body.passwordParams,
        proofKey: bytes(body.passwordProofKey),
        vault: rotationOf(body.vault),
        accountKey: bytes(body.accountKey),
        revocations: body.revocations.map(({ id, statement }) => ({ id, statement: bytes(statement) })),
      });
      await accountChanges.record(session, 'moved-on');
      return { version };
    },

    accountData: async ({ session }) => {
      const { user, credentials, askedFirst, consentedAt, discoverability } = await accounts.data(
        session.userId,
      );
      return {
        profile: profileOf(user),
        consented_at: time(consentedAt),
        discoverability,
        ...(await emails.stateOf(user)),
        asked_first: askedFirst,
        password_params: {
          salt: text(credentials.salt),
          opsLimit: credentials.opsLimit,
          memLimit: credentials.memLimit,
        },
        sessions: await openSessionsOf(sessions, session),
      };
    },

    putDiscoverability: ({ session, body }) => people.setDiscoverability(session.userId, body),

    deleteAccount: async ({ session: { userId } }) => {
      const before = await accountMails.recipient(userId);
      await accounts.delete(userId);
      accountMails.tell(before, 'account-deleted');
    },

    searchUsers: async ({ session, query }) => {
      const found = await people.search(session.userId, query.q, limits.searchMaxResults);
      return found.map(({ id, username, email }) => ({ id, username, email }));
    },

    putSignedName: ({ session, body }) => signedNames.keep(session, bytes(body.signed_name)),

    listSignedNames: async ({ session, body }) =>
      (await signedNames.visibleTo(session, body.user_ids)).map(({ signedName, userId }) => ({
        user_id: userId,
        signed_name: text(signedName),
      })),

    listAccountChanges: async ({ session }) =>
      (await accountChanges.list(session.userId)).map((change) => ({
        id: change.id,
        kind: change.kind,
        device_id: change.deviceId,
        device_name: change.deviceName,
        created_at: time(change.createdAt),
      })),

    createProofNonce: async ({ session }) => {
      const { nonce, version, passwordKey } = await proofs.issueNonce(session);
      return { nonce: text(nonce), session: session.id, version, passwordKey };
    },

    getVault: async ({ session }) => {
      const { version, sealedVault, recoveryWrap } = await accounts.vault(session.userId);
      return { version, sealedVault: text(sealedVault), hasRecoveryKey: recoveryWrap !== null };
    },

    getVaultWraps: async ({ session, requireProof }) => {
      const hasJustProven = session.deviceId === null && clock() - session.createdAt < provenLifetime;
      if (!hasJustProven) await requireProof();
      return wrapsOf(await accounts.vault(session.userId));
    },

    getFormerVault: async ({ session }) => {
      const vault = await accounts.formerVault(session.userId);
      return {
        version: vault.version,
        sealedVault: text(vault.sealedVault),
        ...wrapsOf(vault),
        replaced_at: time(vault.replacedAt),
      };
    },

    putVault: async ({ session, body, requireProof }) => {
      if (body.version > 0) await requireProof();
      const { passwordWrap, recoveryWrap, recoveryAuthKey } = body;
      const { version, hadRecoveryKey } = await accounts.replaceVault(session.userId, {
        version: body.version,
        sealedVault: bytes(body.sealedVault),
        passwordWrap: passwordWrap === undefined ? undefined : bytes(passwordWrap),
        recoveryWrap: typeof recoveryWrap === 'string' ? bytes(recoveryWrap) : recoveryWrap,
        recoveryKey:
          recoveryAuthKey === undefined
            ? undefined
            : { authKey: recoveryAuthKey, proofKey: keyOf(body.recoveryProofKey) },
      });
      if (body.version > 0) await accountChanges.record(session, vaultChange(body, hadRecoveryKey));
      return { version };
    },
  } satisfies Partial<Handlers>;
}

function profileOf(user: UserRow): Profile {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    full_name: user.fullName,
    created_at: time(user.createdAt),
  };
}

function wrapsOf({ passwordWrap, recoveryWrap }: VaultRow) {
  return {
    passwordWrap: text(passwordWrap),
    recoveryWrap: recoveryWrap === null ? null : text(recoveryWrap),
  };
}

const keyOf = (proofKey: string | undefined) => (proofKey === undefined ? null : bytes(proofKey));

/**
 * The change that a vault makes in the place of another. A new wrap alone is no other recovery key: each renewal of the keys has one.
 * @param had there was a recovery key before, or a part of one
 */
function vaultChange(
  { recoveryAuthKey, recoveryWrap }: RouteBody<typeof routes.putVault>,
  had: boolean,
): AccountChangeKind {
  if (recoveryWrap === null) return had ? 'recovery-key' : 'vault';
  if (recoveryAuthKey === undefined) return 'vault';
  return had ? 'recovery-key' : 'recovery-key-created';
}

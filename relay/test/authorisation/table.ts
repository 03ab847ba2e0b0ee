import { randomUUID } from 'node:crypto';
import type { servedRoutes as routes } from '../../contract/served.ts';
import { copiedSignature, revocationOf, signedName, signedStart, signedState } from '../devices.ts';
import { base64Url, type PersonOnDevice, rotatedVault, signUpBody } from '../helpers.ts';
import { commitBody, messageBody, receiptBody } from '../http/conversation.ts';
import { proofKeyOf } from '../proofs.ts';
import { blockRows } from './blockRows.ts';
import { contactRows } from './contactRows.ts';
import { emailRows } from './emailRows.ts';
import { groupInvitationRows } from './groupInvitationRows.ts';
import { historyRows } from './historyRows.ts';
import { everybody, hidden, ofBoth, ofContacts, ofMembers, own, type Row, signedIn, stale } from './rows.ts';
import { sessionRows } from './sessionRows.ts';
import { treeRows } from './treeRows.ts';
import {
  type Actor,
  directId,
  epochOf,
  freshGroup,
  groupConversation,
  isLiving,
  messageToCreator,
  must,
  notificationOfCreator,
  ownDevicesId,
  spareDevice,
  type World,
} from './world.ts';

const digestsQuery = 'after=0&before=9';

/** The person who asks; for those who are nobody any more, somebody whose things a request may name. */
const personOf = (world: World, actor: Actor): PersonOnDevice =>
  isLiving(actor) ? world[actor] : world.stranger;
/** The person that an actor would talk to: the creator, who talks to the contact. */
const partnerOf = (world: World, actor: Actor) => (actor === 'creator' ? world.contact : world.creator);

/** Devices that have registered no start name none with what they send. */
const forgetStarts = ({ relay }: World) =>
  relay.relay.database.db.updateTable('devices').set({ start_number: null, start_tag: null }).execute();

const inGroup = async (world: World) => ({ id: await freshGroup(world) });

const vaultVersion = async (person: PersonOnDevice) =>
  (await must(person.call<{ version: number }>('GET', '/vault'))).version;

const stateVersion = async (person: PersonOnDevice) =>
  (await must(person.call<{ version: number }>('GET', '/account-state'))).version;

/** Every call of the contract: a call without its row is a type error, and fails the test. */
export const table: { readonly [Name in keyof typeof routes]: readonly Row[] } = {
  getVersion: [everybody(() => ({}))],
  register: [everybody(() => ({ body: signUpBody() }))],
  login: [everybody(({ creator }) => ({ body: { email: creator.username, password: creator.password } }))],
  authParams: [everybody(({ creator }) => ({ query: `identifier=${creator.username}` }))],
  recover: [
    // Somebody else than who logs in above, as each person has so many sessions.
    everybody(({ contact, recoveryAuthKey }) => ({ body: { email: contact.email, recoveryAuthKey } })),
  ],

  ...sessionRows,
  profile: [own()],
  accountData: [own()],
  deleteAccount: [own()],
  updateProfile: [
    own((world, actor) => {
      const { username, email } = personOf(world, actor);
      return { body: { username, email } };
    }),
  ],
  ...emailRows,
  changePassword: [
    own(async (world, actor) => {
      const person = personOf(world, actor);
      const { password, salt } = person;
      const passwordParams = { salt, opsLimit: 3, memLimit: 134_217_728 };
      const vault = rotatedVault(await vaultVersion(person), base64Url(73));
      const passwordProofKey = proofKeyOf(password);
      return { body: { currentPassword: password, password, passwordProofKey, passwordParams, vault } };
    }),
  ],
  moveOn: [
    signedIn(stale, (world, actor) => {
      const person = personOf(world, actor);
      const { deviceId, password, salt } = person;
      const passwordParams = { salt, opsLimit: 3, memLimit: 134_217_728 };
      const revocations = [{ id: deviceId, statement: revocationOf(person, deviceId) }];
      // The caller is let in, and keeps the device that the other rows need.
      const vault = rotatedVault(1_000_000);
      const credentials = { password, passwordParams, passwordProofKey: proofKeyOf(password) };
      return { body: { ...credentials, vault, accountKey: base64Url(32), revocations } };
    }),
  ],
  listAccountChanges: [own()],
  getVault: [own()],
  getVaultWraps: [own()],
  getFormerVault: [
    own(async (world, actor) => {
      const person = personOf(world, actor);
      const version = await vaultVersion(person);
      await must(person.call('PUT', '/vault', { version, sealedVault: base64Url(145) }));
      return {};
    }),
  ],
  getAccountState: [own()],
  putAccountState: [
    own(async (world, actor) => {
      const person = personOf(world, actor);
      return { body: { version: await stateVersion(person), sealed: signedState(person) } };
    }),
  ],
  putAskedFirst: [own(() => ({ body: { asked_first: false } }))],
  putDiscoverability: [own(() => ({ body: { found_by: 'both', shows_email: false } }))],
  putSignedName: [
    own((world, actor) => {
      const person = personOf(world, actor);
      return { body: { signed_name: signedName(person, person.username) } };
    }),
  ],
  listSignedNames: [own(({ creator }) => ({ body: { user_ids: [creator.id] } }))],
  putVault: [
    own(async (world, actor) => {
      const version = await vaultVersion(personOf(world, actor));
      const wraps = { passwordWrap: base64Url(73), recoveryWrap: base64Url(73) };
      return { body: { version, sealedVault: base64Url(145), ...wraps } };
    }),
  ],

  putDevice: [
    signedIn(
      {
        stranger: 'forbidden',
        contact: 'forbidden',
        member: 'forbidden',
        creator: 'ok',
        removed: 'forbidden',
        blocked: 'forbidden',
      },
      ({ creator: { deviceId, certificate } }) => ({ id: deviceId, body: { name: 'Browser', certificate } }),
    ),
  ],
  putStart: [
    own(
      (world, actor) => {
        const person = personOf(world, actor);
        return { body: signedStart(person, { number: 1, tag: base64Url(16), from: [] }) };
      },
      { about: 'their own device', undo: forgetStarts },
    ),
    signedIn(
      {
        stranger: 'forbidden',
        contact: 'forbidden',
        member: 'forbidden',
        creator: 'ok',
        removed: 'forbidden',
        blocked: 'forbidden',
      },
      ({ creator }) => ({ body: signedStart(creator, { number: 1, tag: base64Url(16), from: [] }) }),
      { about: "the creator's device", undo: forgetStarts },
    ),
  ],
  deviceCopied: [
    signedIn(hidden, async (world) => {
      const deviceId = await spareDevice(world);
      return { id: deviceId, body: { signature: copiedSignature(world.creator.id, deviceId) } };
    }),
  ],
  listDevices: [own()],
  revokeDevice: [
    signedIn(hidden, async (world) => {
      const deviceId = await spareDevice(world);
      return { id: deviceId, body: { statement: revocationOf(world.creator, deviceId) } };
    }),
  ],
  userDevices: [
    signedIn({ ...ofMembers, contact: 'ok' }, async (world) => {
      await freshGroup(world);
      return { id: world.creator.id };
    }),
  ],
  revokedDevices: [
    signedIn({ ...ofMembers, contact: 'ok' }, async (world) => {
      await freshGroup(world);
      return { id: world.creator.id };
    }),
  ],
  visibleRevocations: [own()],
  publishKeyPackages: [own(() => ({ body: { keyPackages: [base64Url(300)] } }))],
  keyPackageCount: [own()],
  claimKeyPackages: [
    signedIn(ofContacts, async (world) => {
      await freshGroup(world);
      return { id: world.creator.id };
    }),
  ],

  claimKeyPackagesOfMany: [
    signedIn(ofContacts, async (world) => {
      await freshGroup(world);
      return { body: { user_ids: [world.creator.id] } };
    }),
  ],

  listContacts: [own()],
  listContactRequests: [own()],
  listSentRequests: [own()],
  ...contactRows,
  searchUsers: [own(() => ({ query: 'q=somebody' }))],
  ...blockRows,

  listConversations: [own()],
  listUserMessages: [
    // Received messages stay readable to one who is a contact no more.
    signedIn({ ...ofBoth, removed: 'ok', blocked: 'ok' }, (world, actor) => ({
      id: partnerOf(world, actor).id,
    })),
  ],
  sendUserMessage: [
    signedIn(
      {
        stranger: 'not-a-contact',
        contact: 'ok',
        member: 'not-a-contact',
        creator: 'ok',
        removed: 'not-a-contact',
        blocked: 'ok',
      },
      async (world, actor) => ({
        id: partnerOf(world, actor).id,
        body: messageBody(await epochOf(world.creator, directId(world))),
      }),
    ),
  ],
  markDelivered: [signedIn(hidden, async (world) => ({ id: await messageToCreator(world) }))],
  putReceipt: [
    signedIn(
      ofBoth,
      async (world, actor) => ({
        id: directId(world),
        body: receiptBody(personOf(world, actor), directId(world), 1),
      }),
      { about: 'a direct conversation' },
    ),
    signedIn(
      ofMembers,
      async (world, actor) => {
        const id = await groupConversation(world);
        return { id, body: receiptBody(personOf(world, actor), id, 1) };
      },
      { about: 'a group' },
    ),
  ],
  listReceipts: [
    signedIn(ofBoth, (world) => ({ id: directId(world) }), { about: 'a direct conversation' }),
    signedIn(ofMembers, async (world) => ({ id: await groupConversation(world) }), { about: 'a group' }),
  ],
  submitCommit: [
    signedIn(
      ofBoth,
      async (world) => {
        const id = directId(world);
        return { id, body: commitBody(await epochOf(world.creator, id)) };
      },
      { about: 'a direct conversation' },
    ),
    signedIn(ofMembers, async (world) => ({ id: await groupConversation(world), body: commitBody(1) }), {
      about: 'a group',
    }),
    signedIn(
      hidden,
      async (world) => {
        const id = await ownDevicesId(world);
        return { id, body: commitBody(await epochOf(world.creator, id)) };
      },
      { about: "a person's own devices" },
    ),
  ],
  listDigests: [
    signedIn(ofBoth, (world) => ({ id: directId(world), query: digestsQuery }), {
      about: 'a direct conversation',
    }),
    signedIn(ofMembers, async (world) => ({ id: await groupConversation(world), query: digestsQuery }), {
      about: 'a group',
    }),
    signedIn(hidden, async (world) => ({ id: await ownDevicesId(world), query: digestsQuery }), {
      about: "a person's own devices",
    }),
  ],
  ...treeRows,
  getGroupInfo: [
    signedIn(ofBoth, (world) => ({ id: directId(world) }), { about: 'a direct conversation' }),
    signedIn(ofMembers, async (world) => ({ id: await groupConversation(world) }), { about: 'a group' }),
    signedIn(hidden, async (world) => ({ id: await ownDevicesId(world) }), {
      about: "a person's own devices",
    }),
  ],
  listWelcomes: [own()],
  deleteWelcome: [
    signedIn({ ...hidden, creator: 'not-found', member: 'ok' }, async (world) => {
      await freshGroup(world);
      const [welcome] = await must(world.member.call<{ id: string }[]>('GET', '/welcomes'));
      return { id: welcome?.id ?? randomUUID() };
    }),
  ],

  listGroups: [own()],
  createGroup: [
    own(() => ({ body: { groupId: randomUUID(), sealedName: base64Url(60) } }), { about: 'a new group' }),
    signedIn(
      {
        stranger: 'group-exists',
        contact: 'group-exists',
        member: 'group-exists',
        creator: 'ok',
        removed: 'group-exists',
        blocked: 'group-exists',
      },
      async (world) => ({ body: { groupId: await freshGroup(world), sealedName: base64Url(60) } }),
      { about: "somebody's group" },
    ),
  ],
  getGroup: [signedIn(ofMembers, inGroup)],
  sealGroupName: [
    signedIn(ofMembers, async (world) => ({
      id: await freshGroup(world),
      body: { epoch: 1, sealedName: base64Url(60) },
    })),
  ],
  listGroupMembers: [signedIn(ofMembers, inGroup)],
  addGroupMember: [
    signedIn({ ...ofMembers, member: 'forbidden', blocked: 'forbidden' }, async (world) => ({
      id: await freshGroup(world),
      body: { user_id: world.contact.id, ...commitBody(1) },
    })),
  ],
  leaveGroup: [
    signedIn({ ...ofMembers, creator: 'forbidden' }, async (world) => ({
      id: await freshGroup(world),
      body: { statement: base64Url(100) },
    })),
  ],
  getLeaveStatement: [own(inGroup)],
  deleteGroup: [signedIn({ ...ofMembers, member: 'forbidden', blocked: 'forbidden' }, inGroup)],
  listGroupMessages: [signedIn(ofMembers, inGroup)],
  ...groupInvitationRows,
  sendGroupMessage: [
    signedIn(ofMembers, async (world) => ({ id: await freshGroup(world), body: messageBody(1) })),
  ],

  listNotifications: [own()],
  readNotification: [signedIn(hidden, async (world) => ({ id: await notificationOfCreator(world) }))],
  readAllNotifications: [own()],
  deleteNotification: [signedIn(hidden, async (world) => ({ id: await notificationOfCreator(world) }))],

  ...historyRows,
  getStorage: [own()],
  getBlobStorage: [own()],
};

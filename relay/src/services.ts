import type { FastifyBaseLogger } from 'fastify';
import { type AccountChanges, createAccountChanges } from './accounts/accountChanges.ts';
import { type AccountStates, createAccountStates } from './accounts/accountStates.ts';
import { type Accounts, createAccounts } from './accounts/accounts.ts';
import { createEmails, type Emails } from './accounts/emails.ts';
import { createPeople, type People } from './accounts/people.ts';
import { createSignedNames, type SignedNames } from './accounts/signedNames.ts';
import { createLoginThrottle } from './auth/loginThrottle.ts';
import { createPasswords } from './auth/passwords.ts';
import { createProofs, type Proofs } from './auth/proofs.ts';
import { createSessions, type Sessions } from './auth/sessions.ts';
import type { BlobStore } from './blobs/blobStore.ts';
import { type Blobs, createBlobs } from './blobs/blobs.ts';
import type { Config } from './config.ts';
import { type Blocks, createBlocks } from './contacts/blocks.ts';
import { type Contacts, createContacts } from './contacts/contacts.ts';
import { createReports, type Reports } from './contacts/reports.ts';
import type { DiskReserve } from './db/diskReserve.ts';
import type { NameIndex } from './db/nameIndex.ts';
import type { Db } from './db/tables.ts';
import { createDevices, type Devices } from './devices/devices.ts';
import { createStarts, type Starts } from './devices/starts.ts';
import { createGroups, type Groups } from './groups/groups.ts';
import { createGroupInvitations, type GroupInvitations } from './groups/invitations.ts';
import { createHistory, type History } from './history/history.ts';
import { networkOf } from './http/clientAddress.ts';
import { EntityTags } from './http/entityTags.ts';
import { type AccountMails, createAccountMails } from './mail/accountMails.ts';
import type { Mailer } from './mail/mailer.ts';
import type { Appender } from './messaging/append/appender.ts';
import { createMessaging, type Messaging } from './messaging/messaging.ts';
import { createRetentionDays, type RetentionDays } from './messaging/retentionDays.ts';
import { measureMessaging } from './metrics/measureMessaging.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createNotifications, type Notifications } from './notifications/notifications.ts';
import type { OnlineUsers } from './presence/onlineUsers.ts';
import { RateLimiter } from './rateLimits/rateLimiter.ts';
import type { RateLimitStore } from './rateLimits/store.ts';
import type { Hub } from './realtime/hub.ts';
import { OpenConnections } from './realtime/openConnections.ts';
import type { Secrets } from './secrets.ts';

/** The services that the HTTP routes, the MQTT gateway and the presence socket share. */
export interface Services {
  readonly config: Config;
  readonly hub: Hub;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: FastifyBaseLogger;
  readonly accounts: Accounts;
  readonly accountChanges: AccountChanges;
  readonly accountMails: AccountMails;
  readonly accountStates: AccountStates;
  readonly emails: Emails;
  readonly signedNames: SignedNames;
  readonly people: People;
  readonly rateLimiter: RateLimiter;
  readonly connections: OpenConnections;
  readonly sessions: Sessions;
  readonly proofs: Proofs;
  readonly entityTags: EntityTags;
  readonly devices: Devices;
  readonly starts: Starts;
  readonly contacts: Contacts;
  readonly blocks: Blocks;
  readonly reports: Reports;
  readonly groups: Groups;
  readonly groupInvitations: GroupInvitations;
  readonly messaging: Messaging;
  readonly retentionDays: RetentionDays;
  readonly notifications: Notifications;
  readonly history: History;
  readonly blobs: Blobs;
  readonly diskReserve: DiskReserve;
  readonly onlineUsers: OnlineUsers;
}

export interface ServiceDependencies
  extends Pick<Services, 'config' | 'hub' | 'clock' | 'log' | 'onlineUsers' | 'diskReserve'> {
  readonly db: Db;
  readonly names: NameIndex;
  readonly appender: Appender;
  readonly secrets: Secrets;
  readonly blobStore: BlobStore;
  readonly rateLimitStore: RateLimitStore;
  readonly metrics: Metrics;
  /** Null where the operator has set no SMTP server. */
  readonly mailer: Mailer | null;
}

export async function createServices(dependencies: ServiceDependencies): Promise<Services> {
  const { config, hub, clock, log, db, secrets, mailer, metrics } = dependencies;
  const rateLimiter = new RateLimiter({
    store: dependencies.rateLimitStore,
    quotas: config.rateLimits,
    onRefused: (limit, address) => {
      metrics.limited(limit);
      log.info({ limit, ...(address === null ? {} : { network: networkOf(address) }) }, 'rate limit reached');
    },
  });
  const accountMails = createAccountMails({ db, clock, mailer, rateLimiter });
  const { jwtSecret } = secrets;
  const emails = createEmails({ db, hub, clock, log, jwtSecret, mailer, rateLimiter });
  const verifiesEmails = emails.verifies;
  const loginThrottle = createLoginThrottle(rateLimiter, jwtSecret);
  const sessions = createSessions({ db, hub, clock, jwtSecret });
  const passwords = await createPasswords(secrets.decoySecret);
  const { blobStore: store } = dependencies;
  const blobs = createBlobs({ db, store, settings: config.blobs, clock, metrics, log });
  return {
    config,
    hub,
    clock,
    log,
    rateLimiter,
    connections: new OpenConnections(),
    sessions,
    proofs: createProofs({ db, clock, loginThrottle }),
    entityTags: new EntityTags({ hub, clock }),
    accounts: createAccounts({
      db,
      hub,
      clock,
      passwords,
      sessions,
      loginThrottle,
      blobs,
    }),
    accountChanges: createAccountChanges({ db, hub, clock, accountMails }),
    accountMails,
    emails,
    accountStates: createAccountStates({ db, hub }),
    signedNames: createSignedNames({ db }),
    people: createPeople({ db, names: dependencies.names, verifiesEmails }),
    devices: createDevices({ db, hub, clock }),
    starts: createStarts({ db, hub, clock }),
    contacts: createContacts({ db, hub, clock, verifiesEmails }),
    blocks: createBlocks({ db, hub, clock }),
    reports: createReports({ db, clock }),
    groups: createGroups({ db, hub, clock }),
    groupInvitations: createGroupInvitations({ db, hub, clock }),
    messaging: measureMessaging(
      createMessaging({ db, appender: dependencies.appender, hub, clock }),
      metrics,
    ),
    retentionDays: createRetentionDays({ db, clock, retention: config.retention }),
    notifications: createNotifications({ db, hub, clock }),
    history: createHistory({ db, clock }),
    blobs,
    diskReserve: dependencies.diskReserve,
    onlineUsers: dependencies.onlineUsers,
  };
}

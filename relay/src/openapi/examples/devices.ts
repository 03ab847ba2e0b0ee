import type { Examples } from '../example.ts';
import {
  blobId,
  certificate,
  deviceSignature,
  direct,
  formerStartTag,
  ids,
  keyPackage,
  openSession,
  sealed,
  startTag,
  statement,
  time,
} from './values.ts';

const device = {
  id: ids.device,
  name: 'Firefox on Linux',
  certificate,
  created_at: time,
  last_seen_at: time,
  current: true,
};

export const devices = {
  listSessions: { response: [openSession] },
  endSession: { params: { id: ids.session } },
  putDevice: {
    params: { id: ids.device },
    body: { name: device.name, certificate, signature: deviceSignature },
    response: device,
  },
  putStart: {
    body: { number: 8, tag: startTag, from: [formerStartTag], signature: deviceSignature },
    response: { number: 8, tag: startTag },
  },
  deviceCopied: { params: { id: ids.device }, body: { signature: deviceSignature, statement } },
  listDevices: { response: [device] },
  revokeDevice: { params: { id: ids.otherDevice }, body: { statement } },
  userDevices: { params: { id: ids.eero }, response: [{ id: ids.otherDevice, certificate }] },
  revokedDevices: {
    params: { id: ids.eero },
    response: [{ id: ids.otherDevice, statement, revoked_at: time }],
  },
  visibleRevocations: {
    query: { since: time },
    response: [{ id: ids.otherDevice, user_id: ids.eero, statement, revoked_at: time }],
  },
  publishKeyPackages: {
    body: { keyPackages: [keyPackage], lastResort: keyPackage, suite: 0xf04d },
    response: { available: 50 },
  },
  keyPackageCount: {
    response: {
      available: 20,
      lastResort: true,
      suites: [
        { suite: 0xf04d, available: 50, lastResort: true },
        { suite: 0x004d, available: 20, lastResort: true },
      ],
    },
  },
  claimKeyPackages: {
    params: { id: ids.eero },
    response: [{ deviceId: ids.otherDevice, keyPackage, lastResort: false }],
  },
  claimKeyPackagesOfMany: {
    body: { user_ids: [ids.eero], suites: [0xf04d, 0x004d] },
    response: [{ userId: ids.eero, deviceId: ids.otherDevice, keyPackage, lastResort: false }],
  },
} satisfies Partial<Examples>;

export const history = {
  putHistory: {
    body: { items: [{ id: ids.message, conversationId: direct, seq: 7, sealed }] },
    response: { stored: 1, lastPosition: 1 },
  },
  getHistory: {
    query: { after: 0, limit: 200 },
    response: [{ id: ids.message, conversationId: direct, seq: 7, sealed, position: 1 }],
  },
  getStorage: { response: { entryDays: 90, fewestEntryDays: 90, historyDays: null } },
  deleteHistory: { query: { conversationId: direct } },
} satisfies Partial<Examples>;

export const files = {
  getBlobStorage: {
    response: {
      maxBlobBytes: 104_857_600,
      blobDays: 90,
      quotaBytes: 2_147_483_648,
      storedBlobs: 1,
      storedBytes: 69_632,
      unfinished: [{ id: blobId, length: 65_568 }],
    },
  },
} satisfies Partial<Examples>;

export const notifications = {
  listNotifications: {
    response: [
      {
        id: ids.notification,
        type: 'message',
        sender_id: ids.eero,
        content: 'eero',
        created_at: time,
        read: false,
      },
    ],
  },
  readNotification: { params: { id: ids.notification } },
  readAllNotifications: {},
  deleteNotification: { params: { id: ids.notification } },
} satisfies Partial<Examples>;

import * as z from 'zod/mini';
import { RotatedVault } from './account.ts';
import { limits } from './limits.ts';
import { base64Url, Id, intFrom, lineOfText, StartTag, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

const Certificate = base64Url(limits.certificateMax);
const KeyPackage = base64Url(limits.keyPackageMax);
/**
 * The MLS suites of which there are KeyPackages, by their numbers (docs/PROTOCOL.md, section 1). Clients from before
 * 0xF04D know of 0x004D only, and say none: that is what is meant then.
 */
export const keyPackageSuites = [0xf04d, 0x004d] as const;
export type KeyPackageSuite = (typeof keyPackageSuites)[number];
export const formerSuite: KeyPackageSuite = 0x004d;
const Suite = z.literal(keyPackageSuites);
/** The suites that a caller can use, the one that it would rather have first. */
const Suites = z._default(z.array(Suite).check(z.minLength(1), z.maxLength(keyPackageSuites.length)), [
  formerSuite,
]);
const IdParams = z.object({ id: Id });

export const Device = z
  .object({
    id: Id,
    name: z.string(),
    certificate: Certificate,
    created_at: Timestamp,
    last_seen_at: Timestamp,
    /** True for the calling device. */
    current: z.boolean(),
  })
  .register(z.globalRegistry, { id: 'Device' });
export type Device = z.infer<typeof Device>;

export const putDevice = defineRoute({
  method: 'PUT',
  paths: ['/devices/{id}'],
  access: 'session',
  params: IdParams,
  body: z.object({
    name: lineOfText(limits.deviceNameMaxLength).check(z.minLength(1)),
    certificate: Certificate,
    /**
     * The device's, over {uint8 version = 1, opaque userId<V>, opaque deviceId<V>, opaque session<V>} by SignWithLabel of
     * RFC 9420 (section 5.1.2) with `SinettiDeviceSession`. Only a session that has this device already does without.
     */
    signature: z.optional(base64Url(64, 64)),
  }),
  status: 200,
  response: Device,
  errors: ['device-conflict', 'forbidden', 'limit-reached'],
});

/**
 * A start of a device: its storage counts them, and draws a tag for each. The tag has one text only: of its last character
 * some bits mean nothing.
 */
export const Start = z
  .object({ number: intFrom(1), tag: StartTag })
  .register(z.globalRegistry, { id: 'Start' });
export type Start = z.infer<typeof Start>;

export const putStart = defineRoute({
  method: 'PUT',
  paths: ['/devices/me/start'],
  access: 'device',
  body: z.extend(Start, {
    /** Tags of which the registered one has to be, unless it is this one already. */
    from: z.array(StartTag).check(z.maxLength(limits.startsNamed)),
    /**
     * The device's, over {uint8 version = 1, opaque userId<V>, opaque deviceId<V>, uint64 number, opaque tag<V>, opaque
     * from<V>} by SignWithLabel of RFC 9420 (section 5.1.2) with `SinettiDeviceStart`; `from` is their bytes in a row.
     */
    signature: base64Url(64, 64),
  }),
  status: 200,
  response: Start,
  errors: ['forbidden'],
});

export const deviceCopied = defineRoute({
  method: 'POST',
  paths: ['/devices/{id}/copied'],
  access: 'session',
  params: IdParams,
  body: z.object({
    /**
     * The device's, over {uint8 version = 1, opaque userId<V>, opaque deviceId<V>} by SignWithLabel of RFC 9420 (section
     * 5.1.2) with `SinettiDeviceCopied`.
     */
    signature: base64Url(64, 64),
    statement: z.optional(base64Url(limits.revocationMax)),
  }),
  status: 204,
  errors: ['forbidden', 'not-found'],
});

export const listDevices = defineRoute({
  method: 'GET',
  paths: ['/devices'],
  access: 'session',
  status: 200,
  response: z.array(Device),
  errors: [],
});

export const revokeDevice = defineRoute({
  method: 'DELETE',
  paths: ['/devices/{id}'],
  access: 'session',
  params: IdParams,
  body: z.object({
    statement: base64Url(limits.revocationMax),
    /** Sealed anew, so that the revoked device opens nothing of it. Left out, the former stays. */
    vault: z.optional(RotatedVault),
  }),
  proof: { unless: 'the device is the one that the session is bound to' },
  status: 204,
  errors: ['forbidden', 'not-found', 'stale-version'],
  bodyLimit: 128 * 1024,
});

/** Certificates are public among people who talk: they let a client check a device before it trusts it. */
export const DeviceCertificate = z
  .object({ id: Id, certificate: Certificate })
  .register(z.globalRegistry, { id: 'DeviceCertificate' });
export type DeviceCertificate = z.infer<typeof DeviceCertificate>;

export const userDevices = defineRoute({
  method: 'GET',
  paths: ['/users/{id}/devices'],
  access: 'session',
  params: IdParams,
  status: 200,
  response: z.array(DeviceCertificate),
  errors: ['not-found'],
});

/** The relay checks the statement by the device's certificate; whoever has pinned the account key checks more. */
export const RevokedDevice = z
  .object({ id: Id, statement: base64Url(limits.revocationMax), revoked_at: Timestamp })
  .register(z.globalRegistry, { id: 'RevokedDevice' });
export type RevokedDevice = z.infer<typeof RevokedDevice>;

export const revokedDevices = defineRoute({
  method: 'GET',
  paths: ['/users/{id}/revoked-devices'],
  access: 'session',
  params: IdParams,
  status: 200,
  response: z.array(RevokedDevice),
  errors: ['not-found'],
});

export const visibleRevocations = defineRoute({
  method: 'GET',
  paths: ['/revoked-devices'],
  access: 'session',
  query: z.object({
    /** Leaves out what was revoked before. */
    since: z.optional(Timestamp),
  }),
  status: 200,
  response: z.array(z.extend(RevokedDevice, { user_id: Id })),
  errors: [],
});

export const publishKeyPackages = defineRoute({
  method: 'POST',
  paths: ['/key-packages'],
  access: 'device',
  body: z.object({
    keyPackages: z.array(KeyPackage).check(z.maxLength(limits.keyPackagesPerRequest)),
    lastResort: z.optional(KeyPackage),
    /** The suite that all of them are of. */
    suite: z._default(Suite, formerSuite),
  }),
  bodyParts: ['keyPackages', 'lastResort'],
  status: 201,
  /** Of the same suite. */
  response: z.object({ available: z.int() }),
  errors: ['limit-reached', 'quota'],
  bodyLimit: 3 * 1024 * 1024,
});

const KeyPackageCount = z.object({ available: z.int(), lastResort: z.boolean() });

export const keyPackageCount = defineRoute({
  method: 'GET',
  paths: ['/key-packages'],
  access: 'device',
  status: 200,
  /** Of 0x004D, as clients from before 0xF04D ask, and of each suite. */
  response: z.extend(KeyPackageCount, { suites: z.array(z.extend(KeyPackageCount, { suite: z.int() })) }),
  errors: [],
});

export const ClaimedKeyPackage = z
  .object({ deviceId: Id, keyPackage: KeyPackage, lastResort: z.boolean() })
  .register(z.globalRegistry, { id: 'ClaimedKeyPackage' });
export type ClaimedKeyPackage = z.infer<typeof ClaimedKeyPackage>;

const claimParts = ['keyPackage'] as const;

/** Of 0x004D: clients from before 0xF04D call it. */
export const claimKeyPackages = defineRoute({
  method: 'POST',
  paths: ['/users/{id}/key-packages/claim'],
  access: 'device',
  params: IdParams,
  status: 200,
  response: z.array(ClaimedKeyPackage),
  responseParts: claimParts,
  errors: ['not-found', 'not-a-contact'],
});

export const claimKeyPackagesOfMany = defineRoute({
  method: 'POST',
  paths: ['/key-packages/claim'],
  access: 'device',
  body: z.object({
    user_ids: z.array(Id).check(z.minLength(1), z.maxLength(limits.peoplePerClaim)),
    suites: Suites,
  }),
  status: 200,
  response: z.array(z.extend(ClaimedKeyPackage, { userId: Id })),
  responseParts: claimParts,
  errors: ['not-found', 'not-a-contact'],
});

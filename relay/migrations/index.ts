import type { Migration } from 'kysely';
import { type ColumnTypes, initial } from './0001-initial.ts';
import { groups } from './0002-groups.ts';
import { notifications } from './0003-notifications.ts';
import { recovery } from './0004-recovery.ts';
import { revocations } from './0005-revocations.ts';
import { history } from './0006-history.ts';
import { deletions } from './0007-deletions.ts';
import { departures } from './0008-departures.ts';
import { endedDepartures } from './0009-ended-departures.ts';
import { revokedSessions } from './0010-revoked-sessions.ts';
import { proofs } from './0011-proofs.ts';
import { accountChanges } from './0012-account-changes.ts';
import { historySwitch } from './0013-history-switch.ts';
import { endCodes } from './0014-end-codes.ts';
import { accountStates } from './0015-account-states.ts';
import { accountKeys } from './0016-account-keys.ts';
import { entryDigests } from './0017-entry-digests.ts';
import { starts } from './0018-starts.ts';
import { signedNames } from './0019-signed-names.ts';
import { receipts } from './0020-receipts.ts';
import { nameIndex } from './0021-name-index.ts';
import { usernameSkeletons } from './0022-username-skeletons.ts';
import { discoverability } from './0023-discoverability.ts';
import { stateSegments } from './0024-state-segments.ts';
import { retention } from './0026-retention.ts';
import { historyAge } from './0027-history-age.ts';
import { quotas } from './0028-quotas.ts';
import { blocks } from './0030-blocks.ts';
import { suspensions } from './0035-suspensions.ts';
import { signUp } from './0036-sign-up.ts';
import { reports } from './0037-reports.ts';
import { trees } from './0038-trees.ts';
import { sessionsWithoutDevice } from './0039-sessions-without-device.ts';
import { retentionDays } from './0040-retention-days.ts';
import { groupInvitations } from './0042-group-invitations.ts';
import { keyPackageSuites } from './0043-key-package-suites.ts';
import { blobs } from './0044-blobs.ts';
import { blobWriters } from './0045-blob-writers.ts';
import { keyPackageAges } from './0046-key-package-ages.ts';
import { entriesADay } from './0047-entries-a-day.ts';
import { verifiedEmails } from './0048-verified-emails.ts';

export type { ColumnTypes } from './0001-initial.ts';

/** The most accounts whose names are taken into the index while the relay starts, in tenths of a second. */
const indexedAtOnce = 20_000;

/**
 * Every migration by name, in order. Named here rather than found in the folder, so that a compiled relay has them.
 * @param namesAtOnce the most accounts whose names 0021 takes in by itself
 */
export const migrations = (
  types: ColumnTypes,
  namesAtOnce: number = indexedAtOnce,
): Record<string, Migration> => ({
  '0001-initial': initial(types),
  '0002-groups': groups(types),
  '0003-notifications': notifications,
  '0004-recovery': recovery,
  '0005-revocations': revocations(types),
  '0006-history': history(types),
  '0007-deletions': deletions,
  '0008-departures': departures(types),
  '0009-ended-departures': endedDepartures,
  '0010-revoked-sessions': revokedSessions,
  '0011-proofs': proofs(types),
  '0012-account-changes': accountChanges,
  '0013-history-switch': historySwitch,
  '0014-end-codes': endCodes,
  '0015-account-states': accountStates(types),
  '0016-account-keys': accountKeys(types),
  '0017-entry-digests': entryDigests(types),
  '0018-starts': starts,
  '0019-signed-names': signedNames(types),
  '0020-receipts': receipts(types),
  '0021-name-index': nameIndex(types, namesAtOnce),
  '0022-username-skeletons': usernameSkeletons,
  '0023-discoverability': discoverability,
  '0024-state-segments': stateSegments(types),
  '0026-retention': retention,
  '0027-history-age': historyAge,
  '0028-quotas': quotas,
  '0030-blocks': blocks,
  '0035-suspensions': suspensions,
  '0036-sign-up': signUp,
  '0037-reports': reports,
  '0038-trees': trees(types),
  '0039-sessions-without-device': sessionsWithoutDevice,
  '0040-retention-days': retentionDays,
  '0042-group-invitations': groupInvitations,
  '0043-key-package-suites': keyPackageSuites(types),
  '0044-blobs': blobs,
  '0045-blob-writers': blobWriters,
  '0046-key-package-ages': keyPackageAges,
  '0047-entries-a-day': entriesADay,
  '0048-verified-emails': verifiedEmails(types),
});

import type { CryptoApi } from '../api/cryptoApi.ts';
import { toCryptoApiError } from '../api/toCryptoApiError.ts';
import { createMessageBackup } from '../backup/messageBackup.ts';
import { createEvents } from '../conversation/events.ts';
import { keepSent } from '../conversation/sentMessages.ts';
import { createAccount } from '../identity/account.ts';
import { Confirmations } from '../identity/confirmations.ts';
import { type ConfirmingDeps, createConfirming } from '../identity/confirming.ts';
import { createMovingOn } from '../identity/movingOn.ts';
import { createRecovery } from '../identity/recovery.ts';
import { createRevoking } from '../identity/revoking.ts';
import { createRotation, Rotation } from '../identity/rotation.ts';
import { createConversations } from '../messaging/conversations.ts';
import { createDisappearing } from '../messaging/disappearing.ts';
import { createEvidence } from '../messaging/evidence.ts';
import { createFiles } from '../messaging/files.ts';
import { createGallery } from '../messaging/gallery.ts';
import { createGroups } from '../messaging/groups.ts';
import { createLogLinking } from '../messaging/linkLog.ts';
import { createLocalStore } from '../messaging/localStore.ts';
import { createMemberNames } from '../messaging/memberNames.ts';
import { createMessageChanges } from '../messaging/messageChanges.ts';
import { createOutbox } from '../messaging/outbox.ts';
import { createOwnDevices } from '../messaging/ownDevices.ts';
import { createPinning } from '../messaging/pinning.ts';
import { createLogProcessing } from '../messaging/processLog.ts';
import { createReceipts } from '../messaging/receipts.ts';
import { createSavedViews } from '../messaging/savedView.ts';
import { createStars } from '../messaging/stars.ts';
import { createTyping } from '../messaging/typing.ts';
import { createPlace } from '../session/place.ts';
import { Session } from '../session/session.ts';
import { createAccountState } from '../trust/accountState.ts';
import { createNames } from '../trust/names.ts';
import { createTrust } from '../trust/trust.ts';

/** The surroundings of the api, injected so that it also runs where there is no browser. */
export interface CryptoApiDeps extends ConfirmingDeps {
  readonly storage: Pick<StorageManager, 'persisted'>;
}

/**
 * Creates the whole api over one browser's storage. Each instance is one tab: several may share an IndexedDB
 * factory and a lock manager. Every method rejects with a CryptoApiError and nothing else.
 */
export function createCryptoApi(deps: CryptoApiDeps): CryptoApi {
  const session = new Session(deps);
  const confirmations = new Confirmations(() => deps.env.now());
  const rotation = new Rotation(deps, session);
  return withCodes({
    ...createAccount(deps, session, confirmations, keepSent),
    ...createPlace(deps, session),
    ...createConfirming(deps, session, confirmations),
    ...createRotation(session, confirmations, rotation, keepSent),
    ...createRecovery(deps, session, confirmations, rotation),
    ...createMovingOn(deps, session, confirmations, rotation),
    ...createRevoking(session, confirmations, rotation),
    ...createAccountState(deps, session, confirmations),
    ...createNames(session, confirmations),
    ...createTrust(deps, session, confirmations),
    ...createConversations(deps, session),
    ...createGroups(deps, session),
    ...createEvents(session),
    ...createMemberNames(session),
    ...createLogProcessing(deps, session),
    ...createLogLinking(deps, session),
    ...createEvidence(deps, session),
    ...createSavedViews(deps, session),
    ...createOutbox(deps, session),
    ...createFiles(deps, session),
    ...createGallery(session),
    ...createMessageChanges(deps, session),
    ...createStars(deps, session),
    ...createReceipts(deps, session),
    ...createTyping(deps, session),
    ...createDisappearing(deps, session),
    ...createPinning(deps, session),
    ...createOwnDevices(deps, session),
    ...createMessageBackup(deps, session),
    ...createLocalStore(session),
    isStorageKept: () => deps.storage.persisted(),
  });
}

type Method = (...args: never[]) => Promise<unknown>;

function withCodes(api: CryptoApi): CryptoApi {
  const wrapped = Object.entries<Method>({ ...api }).map(([name, method]): [string, Method] => [
    name,
    async (...args) => {
      try {
        return await method(...args);
      } catch (error) {
        throw toCryptoApiError(error);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as unknown as CryptoApi;
}

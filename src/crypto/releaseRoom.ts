import {
  isOfType,
  parseRoomVerdict,
  type RoomRefusal,
  type RoomRequest,
} from '../../workers/api/frameMessages.ts';
import type { KeysFrame } from './keysFrame.ts';

/** Asks the frame of the keys about releases. */
export interface ReleaseRoom {
  /** Resolves with whether the origin of the keys uses the release now that the person has agreed to. */
  agree(release: string): Promise<boolean>;
  /** Resolves once the frame has compared what the relay has for its origin; listeners know by then. */
  look(): Promise<void>;
}

/** Told of what the frame notices at its origin. */
export interface ReleaseRoomListeners {
  /** A service worker that belongs to no release has come there. */
  readonly onStranger: () => void;
  /** The refusal that holds there now; null for none. */
  readonly onVerdict: (refusal: RoomRefusal | null) => void;
  /** A version didn't come into use there, for this reason. */
  readonly onNotInstalled: (code: 'hash-mismatch' | 'not-installed') => void;
}

/** Opens the port to the frame of the keys that is about releases. */
export function openReleaseRoom(
  frame: Pick<KeysFrame, 'room'>,
  { onNotInstalled, onStranger, onVerdict }: ReleaseRoomListeners,
): ReleaseRoom {
  const { port1: port, port2: frameSide } = new MessageChannel();
  frame.room(frameSide);
  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (isOfType(data, 'unknown-worker')) onStranger();
    if (isOfType(data, 'not-installed'))
      onNotInstalled('code' in data && data.code === 'hash-mismatch' ? data.code : 'not-installed');
    const verdict = parseRoomVerdict(data);
    if (verdict !== null) onVerdict(verdict.refusal);
  });
  port.start();
  const ask = (request: RoomRequest, type: 'agreed' | 'verdict') =>
    new Promise<object>((resolve) => {
      port.addEventListener('message', function answered({ data }: MessageEvent<unknown>) {
        if (!isOfType(data, type)) return;
        port.removeEventListener('message', answered);
        resolve(data);
      });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
      port.postMessage(request);
    });
  return {
    async agree(release) {
      const answer = await ask({ type: 'agree', release }, 'agreed');
      return 'done' in answer && answer.done === true;
    },
    async look() {
      await ask({ type: 'look' }, 'verdict');
    },
  };
}

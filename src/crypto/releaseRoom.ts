import {
  isOfType,
  parseRoomRefusal,
  type RoomRefusal,
  type RoomRequest,
} from '../../workers/api/frameMessages.ts';
import type { KeysFrame } from './keysFrame.ts';

/** Asks the frame of the keys about releases. */
export interface ReleaseRoom {
  /** Resolves with whether the origin of the keys uses the release now that the person has agreed to. */
  agree(release: string): Promise<boolean>;
}

/** Told of what the frame notices at its origin. */
export interface ReleaseRoomListeners {
  /** A service worker that belongs to no release has come there. */
  readonly onStranger: () => void;
  readonly onRefused: (refusal: RoomRefusal) => void;
  /** A version didn't come into use there, for this reason. */
  readonly onNotInstalled: (code: 'hash-mismatch' | 'not-installed') => void;
}

/** Opens the port to the frame of the keys that is about releases. */
export function openReleaseRoom(
  frame: Pick<KeysFrame, 'room'>,
  { onNotInstalled, onRefused, onStranger }: ReleaseRoomListeners,
): ReleaseRoom {
  const { port1: port, port2: frameSide } = new MessageChannel();
  frame.room(frameSide);
  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (isOfType(data, 'unknown-worker')) onStranger();
    if (isOfType(data, 'not-installed')) {
      onNotInstalled('code' in data && data.code === 'hash-mismatch' ? data.code : 'not-installed');
    }
    const refusal = parseRoomRefusal(data);
    if (refusal !== null) onRefused(refusal);
  });
  port.start();
  return {
    agree: (release) =>
      new Promise((resolve) => {
        port.addEventListener('message', function answered({ data }: MessageEvent<unknown>) {
          if (!isOfType(data, 'agreed')) return;
          port.removeEventListener('message', answered);
          resolve('done' in data && data.done === true);
        });
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
        port.postMessage({ type: 'agree', release } satisfies RoomRequest);
      }),
  };
}

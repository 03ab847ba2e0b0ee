import { useMemo } from 'react';
import { RichText } from '../../i18n/RichText.tsx';
import { longDay } from '../../ui/format.ts';
import type { ChatNotice } from '../conversation/timeline.ts';
import { useTrust } from './useTrust.ts';

/** Returns a notice for each accepted change of the person's account key; they stay for good. */
export function useIdentityLines(userId: string, name: string): readonly ChatNotice[] {
  const { changedAt } = useTrust(userId);
  return useMemo(
    () =>
      changedAt.map((timestamp) => ({
        id: `identity-${timestamp}`,
        timestamp,
        text: (
          <RichText
            id="trust.change.notice"
            parts={{ name: <bdi>{name}</bdi>, date: <span>{longDay(timestamp)}</span> }}
          />
        ),
      })),
    [changedAt, name],
  );
}

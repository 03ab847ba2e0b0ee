import { useAtomValue } from 'jotai';
import type { ChatVerification } from '../../features/messages/ChatPane.tsx';
import { IdentityNoticeOnDemand } from '../../features/trust/IdentityNoticeOnDemand.tsx';
import { useIdentityLines } from '../../features/trust/useIdentityLines.tsx';
import { Verification } from '../../features/trust/Verification.tsx';
import { nameOfAtom } from '../../store/names.ts';

/** Returns the parts of the open chat that tell how certain the other person's identity is. */
export function useChatVerification(userId: string | null): ChatVerification | undefined {
  const name = useAtomValue(nameOfAtom)(userId ?? '');
  const lines = useIdentityLines(userId ?? '', name);
  if (userId === null) return undefined;
  return {
    action: <Verification key={userId} userId={userId} name={name} />,
    notice: <IdentityNoticeOnDemand key={userId} userId={userId} name={name} />,
    lines,
  };
}

import { useAtomValue, useSetAtom } from 'jotai';
import { dismissToastAtom, toastsAtom } from '../../store/toasts.ts';
import { Toasts } from '../../ui/Toasts.tsx';

export function ToastRegion() {
  return <Toasts items={useAtomValue(toastsAtom)} onDismiss={useSetAtom(dismissToastAtom)} />;
}

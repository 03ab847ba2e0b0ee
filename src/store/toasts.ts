import { atom } from 'jotai';

export interface ToastMessage {
  readonly id: number;
  readonly kind: 'success' | 'error' | 'info';
  readonly text: string;
  readonly durationMs: number;
}

/** Spec section 9. */
export const toastDurations = { success: 3000, error: 5000, info: 5000 } as const;

export const toastsAtom = atom<readonly ToastMessage[]>([]);

let nextToastId = 1;

export const showToastAtom = atom(null, (_get, set, kind: ToastMessage['kind'], text: string) => {
  const toast = { id: nextToastId++, kind, text, durationMs: toastDurations[kind] };
  set(toastsAtom, (toasts) => [...toasts, toast]);
});

export const dismissToastAtom = atom(null, (_get, set, id: number) => {
  set(toastsAtom, (toasts) => toasts.filter((toast) => toast.id !== id));
});

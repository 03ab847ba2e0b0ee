import { onDemand } from '../../ui/onDemand.tsx';

export interface SafetyNumberProps {
  userId: string;
  name: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** The number that both people see alike when nobody stands between them. The writer of QR codes comes with it. */
export const SafetyNumber = onDemand<SafetyNumberProps>(
  async () => (await import('./SafetyNumberDialog.tsx')).SafetyNumberDialog,
);

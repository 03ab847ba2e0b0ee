import { onDemand } from '../../ui/onDemand.tsx';

export interface SafetyNumberProps {
  userId: string;
  name: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Shows the number that two people see alike unless somebody stands between them. Loads the QR writer, too. */
export const SafetyNumber = onDemand<SafetyNumberProps>(
  async () => (await import('./SafetyNumberDialog.tsx')).SafetyNumberDialog,
);

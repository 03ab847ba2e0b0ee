import { withTexts } from '../../i18n/i18n.ts';
import { onDemand } from '../../ui/onDemand.tsx';

/** Shows the number that two people see alike unless somebody stands between them. Loads the QR writer, too. */
export const SafetyNumber = onDemand(
  async () => (await withTexts('tabs', import('./SafetyNumberDialog.tsx'))).SafetyNumberDialog,
);

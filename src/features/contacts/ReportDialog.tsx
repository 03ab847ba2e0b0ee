import { onDemand } from '../../ui/onDemand.tsx';

export interface ReportDialogProps {
  person: { readonly id: string; readonly username: string };
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Asks what to report of a person. Its code loads when it is first opened. */
export const ReportDialog = onDemand<ReportDialogProps>(
  async () => (await import('./ReportDialogPopup.tsx')).ReportDialogPopup,
);

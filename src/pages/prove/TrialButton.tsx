import type { ReactNode } from 'react';
import { Button } from '../../ui/Button.tsx';
import { Spinner } from '../../ui/Spinner.tsx';

interface TrialButtonProps {
  isBusy: boolean;
  onPress: () => void;
  children: ReactNode;
}

/** Begins a trial. While it goes on the button can't be pressed, but keeps the focus of who came by keyboard. */
export function TrialButton({ children, isBusy, onPress }: TrialButtonProps) {
  return (
    <div>
      <Button
        variant="primary"
        aria-disabled={isBusy || undefined}
        aria-busy={isBusy || undefined}
        onClick={onPress}
      >
        {isBusy && <Spinner />}
        {children}
      </Button>
    </div>
  );
}
